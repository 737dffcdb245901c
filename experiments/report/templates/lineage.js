"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = new Map(data.candidates.map((c, i) => [c.id, i]));
  const children = new Map();
  for (const c of data.candidates)
    for (const p of c.parents) children.set(p, (children.get(p) || []).concat(c.id));
  const stage = document.getElementById("stage");
  const panel = document.getElementById("panel");
  const nodes = [...document.querySelectorAll("#graph .node")];
  const edges = [...document.querySelectorAll("#graph .edge")];
  let current = -1;

  // Everything is written as text: what the candidates say is data.
  const make = (tag, attributes, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    for (const part of inside) if (part !== null && part !== undefined) element.append(part);
    return element;
  };
  const figure = (value, digits = 3) => (value === null || value === undefined ? "–" : value.toFixed(digits));
  const tile = (value, words) => make("div", {class: "tile"}, make("b", {}, value), make("span", {}, words));
  const text = (value) => make("pre", {dir: "auto"}, value);

  const link = (id) => {
    const button = make("button", {type: "button", class: "jump"}, id);
    button.addEventListener("click", () => select(byId.get(id), true));
    return button;
  };

  const difference = (pieces) => {
    if (!pieces) return make("p", {class: "soft"}, "No difference can be shown: a text is withheld or not on record.");
    const pre = make("pre", {dir: "auto", class: "diff"});
    for (const [sign, words] of pieces)
      pre.append(sign === 0 ? words : make(sign > 0 ? "ins" : "del", {}, words));
    return pre;
  };

  const outcome = (digit) => make("span", {class: "pill " + ["loss", "tie", "win"][digit]}, ["loss", "tie", "win"][digit]);

  const changes = (child, parent) => {
    if (!child.wins || !parent.wins) return null;
    const rows = [[], []];
    data.notes.forEach(([id, name, consultation], i) => {
      const before = Number(parent.wins[i]), after = Number(child.wins[i]);
      if (before === after) return;
      rows[after > before ? 0 : 1].push(make("tr", {},
        make("td", {}, name, make("br"), make("span", {class: "mono soft"}, id)),
        make("td", {}, make("bdi", {}, consultation)),
        make("td", {}, outcome(before)), make("td", {}, outcome(after))));
    });
    const box = make("div", {});
    ["notes won over", "notes lost to"].forEach((words, i) => {
      const details = make("details", {class: i ? "lost" : "won"},
        make("summary", {}, `${rows[i].length} ${words} ${parent.id}`));
      if (rows[i].length) {
        const head = make("tr", {});
        for (const name of ["errored note", "consultation", "before", "after"]) head.append(make("th", {}, name));
        details.append(make("div", {class: "scroll"}, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows[i]))));
      }
      box.append(details);
    });
    return box;
  };

  const show = (c) => {
    panel.replaceChildren();
    panel.append(make("h2", {id: "selected"}, make("bdi", {}, c.title)));
    const line = make("p", {}, make("span", {class: "pill " + c.status}, c.status), " ", c.fate,
      c.detail && c.status === "rejected" ? ` (${c.detail})` : "");
    if (data.winner === c.id) line.append(" · winner");
    panel.append(line);
    const tiles = make("div", {class: "tiles"}, tile(c.kind, "kind"), tile(String(c.iteration), "iteration"),
      tile(figure(c.accept), "primary on accept"), tile(figure(c.commissions), "paired commissions on accept"),
      tile(String(c.leads), "accept notes it leads"));
    if (c.minibatch) {
      tiles.append(tile(`${figure(c.minibatch.parent_reward)} → ${figure(c.minibatch.child_reward)}`, "minibatch reward, before and after"));
      tiles.append(tile(`${figure(c.minibatch.parent_separation)} → ${figure(c.minibatch.child_separation)}`, "separation, before and after"));
    }
    panel.append(tiles);
    const family = make("p", {class: "small"}, "parents: ");
    c.parents.length ? c.parents.forEach((p) => family.append(link(p), " ")) : family.append("none ");
    family.append(" children: ");
    const mine = children.get(c.id) || [];
    mine.length ? mine.forEach((k) => family.append(link(k), " ")) : family.append("none");
    panel.append(family);
    panel.append(make("h3", {}, "The block"));
    panel.append(c.block === null ? make("p", {class: "soft"}, "No text is on record.") : text(c.block));
    for (const id of c.parents) {
      panel.append(make("h3", {}, `Against its parent ${id}`), difference(c.diffs[id]));
      const moved = changes(c, data.candidates[byId.get(id)]);
      if (moved) panel.append(moved);
    }
    if (c.exchanges.length) panel.append(make("h3", {}, "What the reflector saw and answered"));
    for (const e of c.exchanges)
      panel.append(make("details", {}, make("summary", {}, `${e.stage}, attempt ${e.attempt}: prompt`), text(e.prompt)),
        make("details", {open: ""}, make("summary", {}, "answer"), text(e.reply)));
  };

  const ancestors = (id) => {
    const seen = new Set([id]), queue = [id];
    while (queue.length)
      for (const p of data.candidates[byId.get(queue.pop())].parents)
        if (!seen.has(p)) { seen.add(p); queue.push(p); }
    return seen;
  };

  const select = (index, focus) => {
    if (index === undefined || index < 0 || index >= nodes.length) return;
    if (current >= 0) { nodes[current].classList.remove("chosen"); nodes[current].setAttribute("tabindex", "-1"); }
    current = index;
    const node = nodes[index], c = data.candidates[index], line = ancestors(c.id);
    node.classList.add("chosen");
    node.setAttribute("tabindex", "0");
    for (const edge of edges)
      edge.classList.toggle("line", line.has(edge.dataset.to) && line.has(edge.dataset.from));
    if (focus) node.focus({preventScroll: true});
    const box = node.getBoundingClientRect(), view = stage.getBoundingClientRect();
    if (box.left < view.left + 120 || box.right > view.right - 20)
      stage.scrollLeft += box.left - view.left - view.width / 2;
    show(c);
  };

  // Over a hidden candidate a key goes on to the next one that is shown.
  const step = (from, by) => {
    let index = from + by;
    while (nodes[index] && stage.classList.contains("few") && nodes[index].classList.contains("rejected")) index += by;
    return nodes[index] ? index : from;
  };
  const keys = {
    ArrowRight: () => step(current, 1),
    ArrowLeft: () => step(current, -1),
    ArrowUp: () => byId.get(data.candidates[current].parents[0]),
    ArrowDown: () => byId.get((children.get(data.candidates[current].id) || [])[0]),
    Home: () => 0,
    End: () => step(nodes.length, -1),
    w: () => byId.get(data.winner),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "h") { stage.classList.toggle("few"); return; }
    if (!(key in keys)) return;
    event.preventDefault();
    select(keys[key](), true);
  });
  document.getElementById("graph").addEventListener("click", (event) => {
    const node = event.target.closest(".node");
    if (node) select(Number(node.dataset.index), true);
  });
  if (nodes.length) select(data.winner === null ? 0 : byId.get(data.winner), false);
})();
