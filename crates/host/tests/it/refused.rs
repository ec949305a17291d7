//! Claims of drivers about refused paths: the system's own name for the error, and the path.

use crate::scene::{
    Language::{JavaScript, Python},
    Scene,
};

#[test]
fn python_says_which_path_the_system_refused() {
    let mut scene = Scene::with(Python);
    let mut refused = |code: &str| scene.run(code).refused;
    assert_eq!(refused("open('/nowhere/x')"), ["ENOENT /nowhere/x"]);
    assert_eq!(refused("import os\nos.chdir('/')\nopen('nowhere/../y')"), ["ENOENT /y"]);
    assert_eq!(
        refused("os.rename('/nowhere/a', b'/nowhere/b')"),
        ["ENOENT /nowhere/a", "ENOENT /nowhere/b"]
    );
    let wrapped = "try:\n  open('/nowhere/x')\nexcept OSError as e:\n  raise ValueError from e";
    assert_eq!(refused(wrapped), ["ENOENT /nowhere/x"]);
    assert_eq!(refused("raise OSError('/nowhere/x: Permission denied')"), Vec::<String>::new());
    assert_eq!(refused("open(99)"), Vec::<String>::new());
    assert_eq!(refused("try: open('/nowhere/x')\nexcept OSError: pass"), Vec::<String>::new());
}

#[test]
fn a_broken_python_still_tells_the_error() {
    let mut scene = Scene::with(Python);
    let code = "import sys, errno, os\nclass Odd(OSError):\n  @property\n  def filename(self): raise SystemExit\nsys.modules['errno'] = None\ndel os.path.abspath\nraise Odd(2, 'x')";
    let outcome = scene.run(code);
    assert_eq!(outcome.raised.len(), 1, "{outcome:?}");
    assert!(outcome.refused.is_empty());
}

#[test]
fn javascript_says_which_path_the_system_refused() {
    let mut scene = Scene::with(JavaScript);
    let mut refused = |code: &str| scene.run(code).refused;
    assert_eq!(refused("require('fs').readFileSync('/nowhere/x')"), ["ENOENT /nowhere/x"]);
    assert_eq!(
        refused("await require('fs/promises').rename('/nowhere/a', '/nowhere/b')"),
        ["ENOENT /nowhere/a", "ENOENT /nowhere/b"]
    );
    let odd = "throw Object.defineProperty(new Error('x'), 'path', { get() { throw 1 } })";
    let outcome = scene.run(odd);
    assert_eq!((outcome.raised.len(), outcome.refused.len()), (1, 0), "{outcome:?}");
}
