"use strict";
// The explorer and the tips. Everything from the data is put in as text, never as markup.
(() => {
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const FIRST = 12; // neighbours that are shown at once
  const count = (number) => number.toLocaleString("en");

  const weight = (number) => (number < 0.001 || number >= 10 ? String(number) : number.toFixed(3));

  async function unpack() {
    const text = document.getElementById("packed").textContent;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function explorer(data) {
    const root = document.getElementById("explorer");
    const input = document.getElementById("node");
    const matches = document.getElementById("matches");
    const answer = document.getElementById("answer");
    const total = Number(root.dataset.total);
    const name = (i) => (data.names ? data.names[i] : String(data.nodes[i]));
    const group = (i) => (data.groups && data.groups[i] >= 0 ? data.groupNames[data.groups[i]] : "");
    const named = data.here.map(name);
    const place = new Map(named.map((text, at) => [text, at])); // by name, among those here
    const placeOf = new Map(data.here.map((i, at) => [i, at])); // by number
    for (const side of [data.before, data.after]) {
      let at = 0;
      side.start = side.count.map((some) => (at += some) - some);
    }

    // Long ids are often alike at their beginning.
    const brief = (text) => (text.length > 16 ? text.slice(0, 5) + "…" + text.slice(-9) : text);
    const pick = (at, className) => {
      const button = make("button", className, brief(named[at]));
      button.title = named[at];
      button.type = "button";
      button.addEventListener("click", () => show(at, true));
      return button;
    };

    function row(side, edge, node, isAfter, heaviest) {
      const other = side.dst[edge];
      const item = make("li");
      const there = placeOf.get(other);
      item.append(there === undefined ? make("span", "name", brief(name(other))) : pick(there));
      item.firstChild.title = name(other);
      if (data.groups) {
        const mine = group(other);
        const same = mine !== "" && mine === group(data.here[node]);
        const tag = make("span", same ? "group same" : "group", mine === "" ? "–" : same ? "= " + mine : mine);
        tag.title = mine === "" ? "not known" : (same ? "the same " : "another ") + data.groupWord + ": " + mine;
        item.append(tag);
      } else item.append(make("span", "group"));
      const both = side.both[edge] === "1";
      item.append(make("span", both ? "fate" : isAfter ? "fate new" : "fate gone", both ? "kept" : isAfter ? "new" : "dropped"));
      const meter = make("span", "meter");
      const bar = make("i");
      bar.style.width = (100 * side.weight[edge]) / heaviest + "%";
      meter.append(bar);
      item.append(meter, make("span", "weight", weight(side.weight[edge])));
      return item;
    }

    function column(title, side, node, isAfter) {
      const box = make("div");
      const degree = side.degree[node];
      box.append(make("h4", "", title + ": " + count(degree)));
      const list = make("ul", "neighbours");
      const first = side.start[node];
      const last = first + side.count[node];
      const heaviest = Math.max(1, ...side.weight.slice(first, last));
      for (let edge = first; edge < last; edge++) list.append(row(side, edge, node, isAfter, heaviest));
      box.append(list);
      if (!degree) box.append(make("p", "note", "No neighbours."));
      if (last - first < degree) box.append(make("p", "note", "The heaviest " + (last - first) + " of them."));
      return box;
    }

    // Of the neighbours listed, how many are of the same group; not all of a hub's are listed.
    function alike(side, node) {
      let same = 0;
      for (let edge = side.start[node]; edge < side.start[node] + side.count[node]; edge++)
        if (group(side.dst[edge]) === group(data.here[node])) same++;
      return same + " of " + side.count[node];
    }

    function show(at, clicked) {
      const kept = data.before.kept[at];
      const title = make("h3", "", (data.names ? "" : "Node ") + named[at]);
      title.id = "shown";
      title.tabIndex = -1;
      const own = group(data.here[at]);
      let text = own ? "Its " + data.groupWord + ": " + own + ". " : "";
      text += kept + " kept, " + count(data.before.degree[at] - kept) + " dropped, " + count(data.after.degree[at] - kept) + " new. ";
      if (own) text += "Of the same " + data.groupWord + " (marked =): " + alike(data.before, at) + " before, " + alike(data.after, at) + " after.";
      const sides = make("div", "sides");
      const before = root.dataset.before;
      sides.append(
        column("Before, " + before, data.before, at, false),
        column("After, learned graph", data.after, at, true),
      );
      answer.replaceChildren(title, make("p", "", text), sides);
      const long = [...sides.querySelectorAll("li:nth-child(n + " + (FIRST + 1) + ")")];
      if (long.length) {
        for (const item of long) item.hidden = true;
        const more = make("button", "more", "Show all neighbours");
        more.type = "button";
        more.addEventListener("click", () => {
          for (const item of long) item.hidden = false;
          more.remove();
          title.focus({ preventScroll: true });
        });
        answer.append(more);
      }
      input.value = named[at];
      if (clicked) {
        title.focus({ preventScroll: true });
        const top = title.getBoundingClientRect().top;
        if (top < 0 || top > innerHeight * 0.8) title.scrollIntoView({ block: "start" });
      }
    }

    function refuse(asked) {
      const here = named.length === total ? "There are " + count(total) + " nodes" : "This page holds " + count(named.length) + " of " + count(total) + " nodes";
      const like = named.slice(0, 3).join(", ");
      answer.replaceChildren(
        make("p", "", "There is no node “" + asked + "” here. " + here + ", such as " + like + "."),
        make("p", "note", "Any node, by number: select * from '" + root.dataset.folder + "/graph/edges/*.parquet' where src = NUMBER (DuckDB)"),
      );
    }

    document.getElementById("find").addEventListener("submit", (event) => {
      event.preventDefault();
      const asked = input.value.trim();
      if (place.has(asked)) show(place.get(asked), false);
      else if (asked) refuse(asked);
    });
    input.addEventListener("input", () => {
      const asked = input.value.trim().toLowerCase();
      const options = [];
      for (let i = 0; asked && i < named.length && options.length < 12; i++)
        if (named[i].toLowerCase().includes(asked)) {
          const option = make("option");
          option.value = named[i];
          options.push(option);
        }
      matches.replaceChildren(...options);
    });
    document.getElementById("random").addEventListener("click", () => show(Math.floor(Math.random() * named.length), false));
    const suggested = document.getElementById("suggested");
    suggested.append(make("span", "", "For example"), ...data.suggested.map((at) => pick(at, "chip")));
    if (data.suggested.length) show(data.suggested[0], false);
    root.hidden = false;
    root.dataset.ready = "yes";
  }

  // Without this script the browser shows the titles itself; with it they also answer to a finger.
  function tips() {
    const tip = make("div");
    tip.id = "tip";
    tip.hidden = true;
    document.body.append(tip);
    for (const title of document.querySelectorAll("svg title")) {
      title.parentNode.dataset.tip = title.textContent;
      title.remove();
    }
    document.addEventListener("pointerover", (event) => {
      const target = event.target.closest ? event.target.closest("[data-tip]") : null;
      tip.hidden = !target;
      if (!target) return;
      tip.textContent = target.dataset.tip;
      const box = target.getBoundingClientRect();
      const left = Math.min(innerWidth - tip.offsetWidth - 8, Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2));
      const above = box.top - tip.offsetHeight - 8;
      tip.style.left = left + "px";
      tip.style.top = (above > 4 ? above : box.bottom + 8) + "px";
    });
    addEventListener("scroll", () => (tip.hidden = true), { passive: true });
  }

  tips();
  unpack().then(explorer, () => {
    const root = document.getElementById("explorer");
    root.hidden = false;
    root.textContent = "This browser cannot unpack the nodes (it lacks DecompressionStream); a browser of 2023 or later can.";
  });
})();
