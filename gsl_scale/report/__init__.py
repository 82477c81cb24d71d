"""The page a person looks at: `page.py` gathers, `charts.py` and `heatmap.py` draw, `explorer.py`
packs neighbours, and `page.html`, `page.css` and `page.js` are what they are put into."""
