"""Candidates: for each node, the k most similar others by cosine, found by FAISS."""
