//! Containers and machines.

use crate::autorun::rule::{CONTAINER, Names, beginnings, endings, files, folders};

pub(super) const NAMES: &[Names] = &[
    folders(CONTAINER, &[".devcontainer", ".idx", ".ddev", ".codesandbox", ".coder", ".vagrant"]),
    files(
        CONTAINER,
        &[
            ".devcontainer.json",
            "devcontainer.json",
            "dockerfile",
            "containerfile",
            "compose.yml",
            "compose.yaml",
            "docker-compose.yml",
            "docker-compose.yaml",
            "vagrantfile",
            ".gitpod.yml",
            ".replit",
            "docker-compose.override.yml",
            "docker-compose.override.yaml",
            "compose.override.yml",
            "compose.override.yaml",
            ".gitpod.yaml",
            "lima.yaml",
            ".lando.yml",
            "podman-compose.yml",
            "podman-compose.yaml",
        ],
    ),
    endings(CONTAINER, &[".dockerfile", ".containerfile"]),
    beginnings(CONTAINER, &["docker-compose.", "docker-compose-", "dockerfile.", "containerfile."]),
];
