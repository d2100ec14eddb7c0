"""How the page of the gain looks: light, dark, narrow and on paper."""

STYLE = """
:root {
  --ground: #f6f4ef; --card: #fffefb; --ink: #1f1d19; --dim: #655f54; --rule: #dfd9cd;
  --one: #1f5f9e; --two: #bcd3e8; --good: #2c7a52; --part: #b5730f; --bad: #b23a30; --none: #877f70;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #161512; --card: #201e1b; --ink: #ece7dd; --dim: #aaa294; --rule: #3a362f;
    --one: #7db5e8; --two: #36506a; --good: #62bd8f; --part: #e0a84a; --bad: #e98175;
    --none: #7b7467;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main { max-width: 1120px; margin: 0 auto; padding: 2.5rem 1.25rem 3rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; letter-spacing: -.01em; }
h2 { font-size: 1.05rem; margin: 0; }
p { margin: .25rem 0; }
header p, figcaption p, footer { color: var(--dim); }
figcaption p { font-size: .9rem; }
footer { font-size: .85rem; max-width: 48rem; margin-top: 2rem; }
.note { border-left: 4px solid var(--part); padding: .4rem .8rem; background: var(--card); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: 1rem;
  margin: 1.5rem 0; }
.tiles > div, figure, .wide { background: var(--card); border: 1px solid var(--rule);
  border-radius: 10px; }
.tiles > div { display: flex; flex-direction: column-reverse; justify-content: flex-end;
  padding: .9rem 1rem; }
.tiles dt { font-size: .88rem; line-height: 1.35; order: 1; }
.tiles dd { margin: 0; font-size: 2rem; line-height: 1.2; font-weight: 650; order: 2;
  font-variant-numeric: tabular-nums; }
.tiles dd.aside { font-size: .82rem; font-weight: 400; color: var(--dim); order: 0;
  margin-top: .25rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
  gap: 1rem; }
figure { margin: 0; padding: 1rem 1.1rem .8rem; display: flex; flex-direction: column; }
figure > svg { margin-top: auto; }
.plot { width: 100%; height: auto; display: block; }
.plot text { font-size: 12px; fill: var(--dim); font-variant-numeric: tabular-nums; }
.plot text.value { fill: var(--ink); font-weight: 600; }
.grid { stroke: var(--rule); stroke-width: 1; }
.ground { stroke: var(--dim); stroke-width: 1; }
.line { fill: none; stroke: currentColor; stroke-width: 2.5; stroke-linejoin: round; }
.one { fill: var(--one); color: var(--one); }
.two { fill: var(--two); color: var(--two); }
.good { fill: var(--good); color: var(--good); }
.part { fill: var(--part); color: var(--part); }
.bad { fill: var(--bad); color: var(--bad); }
.none { fill: var(--none); color: var(--none); }
.plot rect { stroke: var(--card); stroke-width: 1; }
.two rect, .plot rect.two { stroke: var(--one); stroke-width: 1; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; padding: 0;
  margin: .5rem 0 .3rem; font-size: .88rem; }
.legend svg { width: 14px; height: 14px; margin-right: .4rem; vertical-align: -2px; }
details { font-size: .88rem; margin-top: .3rem; }
summary { cursor: pointer; color: var(--dim); }
.wide { margin-top: 1rem; padding: 1rem 1.1rem; }
.wide ul { margin: .4rem 0 0; padding-left: 1.2rem; }
.scroll { overflow-x: auto; margin-top: .5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .28rem .6rem; border-bottom: 1px solid var(--rule);
  font-weight: 400; white-space: nowrap; }
th:first-child { text-align: left; }
thead th { color: var(--dim); font-size: .85rem; vertical-align: bottom; }
tr.source > * { font-weight: 650; }
tr.week th { padding-left: 1.4rem; color: var(--dim); }
tbody + tbody tr:first-child > * { border-top: 1px solid var(--dim); }
:focus-visible { outline: 2px solid var(--one); outline-offset: 2px; }
@media print {
  :root {
    --ground: #fff; --card: #fff; --ink: #000; --dim: #444; --rule: #bbb;
    --one: #1f5f9e; --two: #bcd3e8; --good: #2c7a52; --part: #b5730f; --bad: #b23a30;
    --none: #877f70;
  }
  body { font-size: 11pt; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  .plots { grid-template-columns: 1fr 1fr; }
  .tiles { grid-template-columns: repeat(5, 1fr); gap: .4rem; }
  .tiles dd { font-size: 1.3rem; }
  figure, .tiles > div, tr { break-inside: avoid; }
  details, .wide ul { display: none; }
  .wide h2:last-of-type { break-after: avoid; }
  .scroll { overflow: visible; }
}
"""
