/** Light and dark by what the reader prefers; nothing is loaded from anywhere. */
export const STYLE = `
:root { color-scheme: light dark; --paper: #fbfaf8; --card: #ffffff; --ink: #1f1d1a; --soft: #6d6860; --rule: #e5e1da; --track: #ece8e1;
  --main: #c23b3b; --second: #3b6ea5; --low: #b98a1d; --near: #c23b3b; --usual: #5b8f6b; }
@media (prefers-color-scheme: dark) { :root { --paper: #171614; --card: #201f1c; --ink: #ece9e3; --soft: #a39d92; --rule: #35322d;
  --track: #34312c; --main: #ef7d72; --second: #7fb2e5; --low: #dcb75a; --near: #ef7d72; --usual: #86bd97; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
  font-variant-numeric: tabular-nums; }
main { max-width: 1120px; margin: 0 auto; padding: 32px 24px 64px; }
header { display: flex; gap: 16px; align-items: center; }
header svg { width: 44px; flex: none; }
h1 { font-size: 24px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 36px 0 12px; }
h3 { font-size: 14px; margin: 0 0 6px; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 0 0 8px; }
.soft { color: var(--soft); } .hint { margin-top: 24px; }
.cards { display: grid; gap: 12px; grid-template-columns: repeat(auto-fill, minmax(340px, 1fr)); }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px; min-width: 0; }
.card.near { border-left: 4px solid var(--near); } .card.low { border-left: 4px solid var(--low); }
.numbers { display: flex; flex-wrap: wrap; gap: 8px 32px; margin-top: 20px; }
.numbers div { min-width: 96px; } .numbers b { display: block; font-size: 22px; font-weight: 650; line-height: 1.2; }
code { display: block; font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--track); border-radius: 6px; padding: 7px 10px;
  margin-top: 8px; overflow-wrap: anywhere; user-select: all; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--rule); border-radius: 10px; }
th, td { text-align: left; padding: 9px 12px; border-top: 1px solid var(--rule); vertical-align: top; white-space: nowrap; }
thead th { border-top: 0; font-size: 13px; font-weight: 600; color: var(--soft); } tbody th { font-weight: 600; white-space: normal; overflow-wrap: anywhere; min-width: 140px; }
td.number { text-align: right; } td small { display: block; color: var(--soft); }
svg { display: block; width: 100%; height: auto; } svg.bar { width: 150px; }
.axis { font: 11px system-ui, sans-serif; fill: var(--soft); } .grid { stroke: var(--rule); }
.area { opacity: .16; } .area.main { fill: var(--main); } .area.second { fill: var(--second); }
.line { fill: none; stroke-width: 1.6; stroke-linejoin: round; } .line.main { stroke: var(--main); } .line.second { stroke: var(--second); }
.limit { stroke: var(--ink); stroke-dasharray: 5 4; opacity: .6; }
.track { fill: var(--track); } .no-track { fill: none; } .fill.usual { fill: var(--usual); } .fill.low { fill: var(--low); } .fill.near { fill: var(--near); }
.mark { stroke: var(--card); stroke-width: 1.5; }
footer { margin-top: 40px; color: var(--soft); font-size: 13px; }
@media print { main { max-width: none; } .card, table { break-inside: avoid; } }
`;
