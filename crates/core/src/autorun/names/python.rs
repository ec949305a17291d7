//! Python and its tools.

use crate::autorun::rule::{
    BUILD, DEBUGGER, Names, PLUGINS, PYTHON, TESTS, TOOL, endings, files, folders,
};

pub(super) const NAMES: &[Names] = &[
    files(
        BUILD,
        &[
            "setup.py",
            "setup.cfg",
            "pyproject.toml",
            "fabfile.py",
            "dodo.py",
            "hatch_build.py",
            "pavement.py",
            "duties.py",
        ],
    ),
    files(PYTHON, &["sitecustomize.py", "usercustomize.py", "pyvenv.cfg"]),
    endings(PYTHON, &[".pth"]),
    files(
        TESTS,
        &[
            "conftest.py",
            ".rspec",
            "pytest.ini",
            "tox.ini",
            "noxfile.py",
            "pytest.toml",
            ".pytest.toml",
            ".pytest.ini",
            "tox.toml",
            ".testr.conf",
            ".stestr.conf",
        ],
    ),
    files(
        PLUGINS,
        &[
            "mypy.ini",
            ".mypy.ini",
            ".pylintrc",
            "pylintrc",
            ".pylintrc.toml",
            "pylintrc.toml",
            ".flake8",
            ".coveragerc",
            "alembic.ini",
            ".pyre_configuration",
        ],
    ),
    files(DEBUGGER, &[".pdbrc", ".pdbrc.py"]),
    files(
        TOOL,
        &[
            "conf.py",
            "gunicorn.conf.py",
            "gunicorn_config.py",
            "celeryconfig.py",
            "alembic/env.py",
            "migrations/env.py",
            "uwsgi.ini",
            "scrapy.cfg",
        ],
    ),
    folders(PYTHON, &[".local/lib"]),
];
