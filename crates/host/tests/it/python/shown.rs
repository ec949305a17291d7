//! Values with more forms than text, and figures.

use super::python;
use crate::scene::{End, Outcome, Scene};
use interpreter_host::{Claim, Heard};
use std::collections::BTreeMap;

/// The results of a cell, each with the name by which it can be replaced.
#[track_caller]
fn results(scene: &mut Scene, code: &str) -> Vec<(BTreeMap<String, String>, Option<String>)> {
    scene.execute(1, code);
    let mut shown = Vec::new();
    loop {
        let Heard::Claim { claim, .. } = scene.next() else { continue };
        match Claim::parse(&claim) {
            Ok(Claim::Result { bundle, display }) => shown.push((bundle, display)),
            Ok(Claim::Finished { status: 0 }) => return shown,
            Ok(Claim::Line { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
fn forms<const COUNT: usize>(outcome: &Outcome, expected: [(&str, &str); COUNT]) {
    let [bundle] = outcome.bundles.as_slice() else { panic!("{outcome:?}") };
    let bundle: Vec<_> = bundle.iter().map(|(form, text)| (form.as_str(), text.as_str())).collect();
    assert_eq!(bundle, expected);
}

#[test]
fn a_value_is_shown_in_every_form_it_has() {
    let mut scene = python();
    let outcome = scene.run("class Rich:\n    def __repr__(self): return 'rich'\n    def _repr_html_(self): return '<b>'\n    def _repr_markdown_(self): return '**b**', {'a': 1}\n    def _repr_svg_(self): return '<svg/>'\n    def _repr_png_(self): return b'\\x89PNG'\n    def _repr_jpeg_(self): 1 / 0 # Not needed beside the other.\n    def _repr_latex_(self): return ''\n    def _repr_json_(self): return {'a': [1]}\n    def _repr_pdf_(self): return b'%PDF'\n    def _repr_javascript_(self): return 'f()'\nRich()").succeeds();
    forms(
        &outcome,
        [
            ("application/javascript", "f()"),
            ("application/json", "{\"a\": [1]}"),
            ("application/pdf", "JVBERg=="),
            ("image/png", "iVBORw=="),
            ("image/svg+xml", "<svg/>"),
            ("text/html", "<b>"),
            ("text/latex", ""),
            ("text/markdown", "**b**"),
            ("text/plain", "rich"),
        ],
    );
    let outcome = scene.run("_, Rich").succeeds();
    assert_eq!(outcome.bundles[0].len(), 1);
    assert_eq!(scene.run("Rich").succeeds().bundles[0].len(), 1);
}

#[test]
fn a_bundle_of_its_own_comes_first_with_or_without_arguments() {
    let mut scene = python();
    scene.run("class A:\n    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/plain': 'a', 'text/html': '<a>'}, {'more': 1}\n    def _repr_html_(self): return 'never'\n    def _repr_latex_(self): return '$a$'\nclass B:\n    def _repr_mimebundle_(self): return {'text/html': '<b>', 'application/vnd.x+json': [None, 'é']}\n    def __repr__(self): return 'b'").succeeds();
    let outcome = scene.run("A()").succeeds();
    forms(&outcome, [("text/html", "<a>"), ("text/latex", "$a$"), ("text/plain", "a")]);
    let outcome = scene.run("B()").succeeds();
    let json = ("application/vnd.x+json", "[null, \"\\u00e9\"]");
    forms(&outcome, [json, ("text/html", "<b>"), ("text/plain", "b")]);
}

#[test]
fn a_form_that_fails_is_told_in_a_line_and_the_others_are_shown() {
    let mut scene = python();
    let outcome = scene
        .run("class Broken:\n    def __repr__(self): return 'broken'\n    def _repr_html_(self): raise ValueError('no')\n    def _repr_svg_(self): raise NotImplementedError\n    def _repr_png_(self): return 5\n    _repr_latex_ = None\nBroken()")
        .complains("_repr_html_ of Broken: ValueError: no\nimage/png: TypeError: text is needed, not int\n")
        .ends(End::Finished(0));
    forms(&outcome, [("text/plain", "broken")]);
    scene
        .run("class Worse:\n    def _repr_html_(self): return 'h'\n    def __repr__(self): return 1 / 0\nWorse()")
        .ends(End::Finished(1))
        .raises("ZeroDivisionError: division by zero");
}

#[test]
fn forms_that_are_too_large_are_left_out_and_the_text_says_so() {
    let mut scene = python();
    let outcome = scene
        .run("class Large:\n    def __repr__(self): return 'large'\n    def _repr_html_(self): return 'x' * 1_000_001\n    def _repr_png_(self): return bytes(8 * 1024 * 1024 + 1)\n    def _repr_svg_(self): return 'x' * 1_000_000\nLarge()")
        .succeeds()
        .results("large\n(text/html is left out: it is too large)\n(image/png is left out: it is too large)");
    assert_eq!(outcome.bundles[0].len(), 2);
    // Each has room, all together have not: the kernel must not be ended for it.
    let outcome = scene.run("class Many:\n    def __repr__(self): return '\\n' * 1_000_000\n    def _repr_mimebundle_(self, include, exclude): return {f'text/{n}': '\\U0001f600' * 1_000_000 for n in range(9)}\nMany()").succeeds();
    assert!(outcome.results[0].ends_with("(text/8 is left out: it is too large)"));
    scene.run("'alive'").succeeds().results("'alive'");
}

#[test]
fn a_large_picture_comes_whole() {
    let mut scene = python();
    let outcome = scene
        .run("class Picture:\n    def _repr_png_(self): return bytes(8 * 1024 * 1024)\nPicture()")
        .succeeds();
    assert_eq!(outcome.bundles[0]["image/png"].len(), 11_184_812);
}

#[test]
fn what_is_displayed_comes_in_order_with_what_is_printed_and_can_be_replaced() {
    let mut scene = python();
    let outcome = scene.run("print('one')\ndisplay(1, 'two')\nprint('three')").succeeds();
    assert_eq!(outcome.results, ["1", "'two'"]);
    let shown = results(
        &mut scene,
        "class H:\n    def __repr__(self): return 'h'\n    def _repr_html_(self): return '<h>'\n\
         handle = display(H(), display_id='mine')\nhandle.update(2)\nupdate_display(3, display_id='mine')\n\
         new = display(4, display_id=True)\nnew.update(5)\nassert len(new.display_id) > 8",
    );
    let texts: Vec<_> = shown.iter().map(|(bundle, _)| bundle["text/plain"].as_str()).collect();
    assert_eq!(texts, ["h", "2", "3", "4", "5"]);
    assert_eq!(shown[0].0["text/html"], "<h>");
    let names: Vec<_> = shown.iter().map(|(_, name)| name.as_deref().unwrap()).collect();
    assert_eq!(names[..3], ["mine"; 3]);
    assert_eq!(names[3], names[4]);
    let raw = results(&mut scene, "display({'text/html': '<i>'}, raw=True)");
    assert_eq!(raw[0].0["text/html"], "<i>");
    assert_eq!(raw[0].1, None);
}

#[test]
fn a_semicolon_hides_the_last_value() {
    let mut scene = python();
    for code in ["1;", "x = 1\nx;", "(\n 1\n) ; # hidden\n"] {
        assert!(scene.run(code).succeeds().results.is_empty(), "{code}");
    }
    scene.run("x = 1; x # shown;").succeeds().results("1");
    scene.run("';'").succeeds().results("';'");
}

/// Stands in for matplotlib: figures are open until they are closed.
const MATPLOTLIB: &str = r"
import os
os.makedirs('beside/matplotlib')
import sys
sys.path.append('beside')
with open('beside/matplotlib/__init__.py', 'w') as file: pass
with open('beside/matplotlib/figure.py', 'w') as file:
    file.write('''
class Figure:
    def __init__(self, number): self.number = number
    def __repr__(self): return f'<Figure {self.number}>'
    def _repr_html_(self): return None
    def savefig(self, file, format, bbox_inches):
        if self.number == 13: raise ValueError('unlucky')
        file.write(b'png%d' % self.number)
''')
with open('beside/matplotlib/pyplot.py', 'w') as file:
    file.write('''
from matplotlib.figure import Figure
figures = {}
def figure(number=None):
    number = number or max(figures, default=0) + 1
    return figures.setdefault(number, Figure(number))
def get_fignums(): return sorted(figures)
def close(figure): del figures[figure.number]
def show(): raise RuntimeError('no screen')
''')
";

#[test]
fn figures_are_shown_at_the_end_of_a_cell_or_when_told_and_then_closed() {
    let mut scene = python();
    scene.run(MATPLOTLIB).succeeds();
    let outcome = scene
        .run("import matplotlib.pyplot as plt\nplt.figure()\nplt.show()\nprint('between')\nplt.figure(); plt.figure();")
        .succeeds();
    let pictures: Vec<_> = outcome.bundles.iter().map(|bundle| &bundle["image/png"]).collect();
    assert_eq!(pictures, ["cG5nMQ==", "cG5nMQ==", "cG5nMg=="]);
    scene.run("plt.get_fignums()").succeeds().results("[]");
    // The last value is not shown again, and an error keeps none from being shown.
    scene.run("figure = plt.figure()\nfigure").succeeds().results("<Figure 1>");
    scene.run("figure").succeeds().results("<Figure 1>");
    let outcome = scene.run("plt.figure()\n1 / 0").ends(End::Finished(1));
    assert_eq!(outcome.results, ["<Figure 1>"]);
    scene
        .run("plt.figure(13);")
        .complains("savefig of Figure: ValueError: unlucky\n")
        .ends(End::Finished(0))
        .results("<Figure 13>");
}

#[test]
fn an_interactive_figure_is_shown_as_a_page_and_as_data() {
    let mut scene = python();
    scene.run("import os\nos.makedirs('beside/plotly')\nimport sys\nsys.path.append('beside')\nopen('beside/plotly/__init__.py', 'w').close()\nwith open('beside/plotly/basedatatypes.py', 'w') as file:\n    file.write('''\nclass BaseFigure:\n    def __repr__(self): return 'Figure'\n    def to_plotly_json(self): return {}\n    def to_json(self): return '{}'\n    def to_html(self, include_plotlyjs, full_html): return f'<div {include_plotlyjs} {full_html}>'\n    def _repr_mimebundle_(self, include, exclude): raise ValueError('nbformat is missing')\n    def show(self): raise ValueError('no browser')\n''')").succeeds();
    for code in ["from plotly.basedatatypes import BaseFigure\nBaseFigure()", "BaseFigure().show()"]
    {
        let outcome = scene.run(code).succeeds();
        let data = ("application/vnd.plotly.v1+json", "{}");
        forms(&outcome, [data, ("text/html", "<div cdn False>"), ("text/plain", "Figure")]);
    }
}

#[test]
fn a_chart_whose_page_needs_a_script_comes_as_data_too() {
    let mut scene = python();
    scene.run("import os\nos.mkdir('altair')\nopen('altair/__init__.py', 'w').close()\nwith open('altair/api.py', 'w') as file:\n    file.write('''\nclass Chart:\n    def __repr__(self): return 'Chart'\n    def to_json(self): return '{}'\n    def _repr_mimebundle_(self, include, exclude): return {'text/html': '<div></div>'}\n''')").succeeds();
    let outcome = scene.run("from altair.api import Chart\nChart()").succeeds();
    let data = ("application/vnd.vegalite.v5+json", "{}");
    forms(&outcome, [data, ("text/html", "<div></div>"), ("text/plain", "Chart")]);
}

#[test]
fn an_image_that_is_to_be_shown_on_a_screen_is_a_result() {
    let mut scene = python();
    scene.run("import os\nos.makedirs('beside/PIL')\nimport sys\nsys.path.append('beside')\nopen('beside/PIL/__init__.py', 'w').close()\nwith open('beside/PIL/ImageShow.py', 'w') as file:\n    file.write('''\nviewers = []\nclass Viewer: pass\ndef register(viewer, order): viewers.insert(order, viewer)\ndef show(image): return viewers[0].show(image, title=None)\n''')").succeeds();
    let outcome = scene.run("from PIL import ImageShow\nclass Image:\n    def _repr_png_(self): return b'png'\nassert ImageShow.show(Image())").succeeds();
    assert_eq!(outcome.bundles[0]["image/png"], "cG5n");
}

#[test]
fn a_module_that_is_not_as_expected_is_left_as_it_is() {
    let mut scene = python();
    scene.run("import os\nos.makedirs('beside/PIL')\nimport sys\nsys.path.append('beside')\nopen('beside/PIL/__init__.py', 'w').close()\nopen('beside/PIL/ImageShow.py', 'w').close()").succeeds();
    scene
        .run("from PIL import ImageShow\nimport importlib.machinery\ntype(ImageShow.__loader__) is importlib.machinery.SourceFileLoader")
        .complains("PIL.ImageShow is not as expected; it works as outside a notebook\n")
        .results("True");
}
