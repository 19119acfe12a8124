#include "report/page_style.hpp"

#include <fmt/format.h>

#include <string_view>

namespace onbeat::report {
namespace {

// Lines and text keep a contrast of 4.5 or more against the panel (WCAG 2 AA).
constexpr std::string_view kLight =
    "color-scheme:light;--page:#fff;--panel:#f5f6f8;--rule:#d3d8df;--text:#1a1e24;--dim:#565f6b;"
    "--good:#12703a;--warning:#8f5300;--bad:#bd1c1c;"
    "--blue:#1d5fd6;--green:#12803f;--orange:#b8500b;--red:#cc2222;--purple:#7a3fd1;"
    "--teal:#0b7a75;--pink:#b8246f;--grey:#626b77;";
constexpr std::string_view kDark =
    "color-scheme:dark;--page:#101418;--panel:#191f26;--rule:#38424e;--text:#e6e9ed;--dim:#a3adb9;"
    "--good:#4fd486;--warning:#f2b04a;--bad:#ff8080;"
    "--blue:#6aa9ff;--green:#4fd486;--orange:#ff9e57;--red:#ff8080;--purple:#c3a6ff;"
    "--teal:#3cd3c6;--pink:#ff85bd;--grey:#9aa5b1;";

constexpr std::string_view kRules = R"(*{box-sizing:border-box}
body{margin:0 auto;max-width:82rem;padding:1rem 1.25rem 3rem;background:var(--page);color:var(--text);
 font:15px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
header{display:flex;gap:1rem;align-items:flex-start;justify-content:space-between;flex-wrap:wrap}
header>div{flex:1 1 20rem;min-width:0}
h1{font-size:1.45rem;line-height:1.25;margin:.2rem 0}
header p{margin:.1rem 0 0;color:var(--dim)}
h2{font-size:1.1rem;margin:0 0 .6rem}
section{margin:1.6rem 0 0}
.theme{border:0;margin:0;padding:0;font-size:.8rem;color:var(--dim);display:flex;gap:.6rem}
.theme legend{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.theme label{display:inline-flex;align-items:center;gap:.2rem}
.theme input{margin:0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(15rem,100%),1fr));gap:.8rem;margin:1rem 0}
.card{background:var(--panel);border-left:5px solid var(--tone);border-radius:6px;padding:.7rem .9rem;min-width:0}
.card h2{font-size:.85rem;font-weight:500;color:var(--dim);margin:0}
.card p{margin:.15rem 0 0;font-size:.88rem}
.card .answer{font-size:1.45rem;font-weight:650;line-height:1.25;margin:.1rem 0 .3rem;color:var(--tone)}
.neutral{--tone:var(--text)}.good{--tone:var(--good)}.warning{--tone:var(--warning)}.bad{--tone:var(--bad)}
.findings{list-style:none;margin:0;padding:0;display:grid;gap:.5rem}
.findings li{background:var(--panel);border-left:5px solid var(--tone);border-radius:6px;padding:.5rem .9rem}
.findings b{color:var(--tone)}
.card.neutral,.findings .neutral{border-color:var(--grey)}
.findings p{margin:.15rem 0 0;color:var(--dim);font-size:.9rem}
code{font:.9em ui-monospace,"DejaVu Sans Mono",monospace}
.scroll{overflow:auto;max-height:26rem;max-width:100%}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid var(--rule);vertical-align:top;
 white-space:nowrap;overflow-wrap:normal}
th{color:var(--dim);font-weight:500;vertical-align:bottom}
thead th{position:sticky;top:0;background:var(--page)}
.t1 :is(th,td):nth-child(1),.t2 :is(th,td):nth-child(2),.t3 :is(th,td):nth-child(3),
.t4 :is(th,td):nth-child(4),.t5 :is(th,td):nth-child(5){text-align:left;white-space:pre-line;
 overflow-wrap:anywhere;min-width:7rem;max-width:40rem}
details{margin:.4rem 0}
summary{cursor:pointer;color:var(--dim);font-size:.88rem}
.tables>details{border-bottom:1px solid var(--rule);margin:0;padding:.5rem 0}
.tables>details>summary{color:var(--text);font-size:1rem;font-weight:550}
.tables .scroll{margin:.5rem 0}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(32rem,100%),1fr));gap:1rem}
.chart{background:var(--panel);border-radius:6px;margin:0;padding:.7rem .9rem .5rem;min-width:0;overflow:hidden}
.chart thead th{background:var(--panel)}
figcaption{font-size:.85rem;color:var(--dim)}
figcaption b{color:var(--text);font-size:.98rem;margin-right:.4rem}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;margin:.25rem 0 0;font-size:.82rem}
.legend span{display:inline-flex;align-items:center;gap:.35rem;min-width:0}
.legend span::before{content:"";width:1.1rem;height:3px;border-radius:2px;background:var(--line);flex:none}
.plot{display:block;width:calc(100% - 5.6rem);height:12.5rem;margin:1.7rem 1.2rem 1.7rem 4.4rem;overflow:visible;
 font-size:11.5px;font-variant-numeric:tabular-nums}
.plot text{fill:var(--dim)}
.plot .grid{stroke:var(--rule)}
.plot path{fill:none;stroke:var(--line);stroke-linecap:round;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.plot .wide{stroke-opacity:.45}
.plot .bound{stroke-dasharray:2 5}
.plot .band{fill:var(--grey);opacity:.13}
.plot .mark{stroke:var(--text);stroke-dasharray:4 3}
.plot .point rect{fill:transparent}
.plot .point:hover rect{fill:var(--grey);opacity:.25}
.plot .point text{visibility:hidden;fill:var(--text);paint-order:stroke;stroke:var(--panel);stroke-width:5px}
.plot .point:hover text{visibility:visible}
.blue{--line:var(--blue)}.green{--line:var(--green)}.orange{--line:var(--orange)}.red{--line:var(--red)}
.purple{--line:var(--purple)}.teal{--line:var(--teal)}.pink{--line:var(--pink)}.grey{--line:var(--grey)}
.note{color:var(--dim);font-size:.85rem;margin:.3rem 0}
footer{margin-top:2rem;color:var(--dim);font-size:.85rem}
@media(max-width:40rem){body{padding:.6rem .7rem 2rem}.plot .crowds{display:none}
 .plot{width:calc(100% - 5rem);margin-left:4rem;margin-right:1rem}.card .answer{font-size:1.3rem}}
@media print{.theme{display:none}.scroll{max-height:none}}
)";

}  // namespace

std::string page_style() {
  return fmt::format(
      ":root{{{0}}}\n@media(prefers-color-scheme:dark){{:root{{{1}}}}}\n"
      ":root:has(#light:checked){{{0}}}\n:root:has(#dark:checked){{{1}}}\n{2}",
      kLight, kDark, kRules);
}

}  // namespace onbeat::report
