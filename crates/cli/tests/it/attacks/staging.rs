//! Changes that mean something else when they are applied than they seem to.

use super::{
    Arena::Staging,
    Attack, Evidence,
    Evidence::{Applied, File},
    Forged::{Attribute, Present, Setuid, Special},
    Language,
    Language::{JavaScript, Python, Shell},
};

const fn attack(
    name: &'static str,
    language: Language,
    evidence: Evidence,
    code: &'static str,
) -> Attack {
    Attack::new(3, name, language, evidence, code).arena(Staging)
}

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "forges_a_deletion",
        Python,
        Applied("whiteout", Special),
        "import stat; os.mknod('whiteout', stat.S_IFCHR | 0o644, os.makedev(0, 0))",
    ),
    attack(
        "hides_what_a_folder_holds",
        Python,
        Applied("opaque", Attribute("user.overlay.opaque")),
        "os.mkdir('opaque'); os.setxattr('opaque', 'user.overlay.opaque', b'y')",
    ),
    attack(
        "leads_a_folder_elsewhere",
        Python,
        Applied("redirected", Attribute("user.overlay.redirect")),
        "os.mkdir('redirected'); os.setxattr('redirected', 'user.overlay.redirect', b'/../../etc')",
    ),
    attack(
        "passes_off_one_file_for_another",
        Python,
        Applied("copied", Attribute("user.overlay.metacopy")),
        "open('copied', 'w').close(); os.setxattr('copied', 'user.overlay.metacopy', b'')\n\
         os.setxattr('copied', 'user.overlay.origin', b'x')",
    ),
    attack(
        "plants_a_hook",
        Shell,
        Applied(".git/hooks/post-checkout", Present),
        "mkdir -p .git/hooks; printf '#!/bin/sh\\n' >.git/hooks/post-checkout; \
         chmod +x .git/hooks/post-checkout",
    ),
    attack(
        "has_git_run_a_program",
        Python,
        Applied("sub/.git/config", Present),
        "os.makedirs('sub/.git'); open('sub/.git/config', 'w').write('[core]\\n\\tfsmonitor = evil\\n')",
    ),
    attack(
        "points_git_to_another_repository",
        Shell,
        Applied(".GIT", Present),
        "mkdir -p elsewhere; echo 'gitdir: elsewhere' >.GIT",
    ),
    attack("stages_a_pipe", Shell, Applied("staged.pipe", Special), "mkfifo staged.pipe"),
    attack(
        "stages_a_socket",
        Python,
        Applied("staged.sock", Special),
        "import socket; socket.socket(socket.AF_UNIX).bind('staged.sock')",
    ),
    attack(
        "stages_a_setuid_file",
        Shell,
        Applied("tool", Setuid),
        "cp /bin/true tool; chmod 755 tool; chmod 6755 tool",
    ),
    attack(
        "applies_by_a_link",
        Shell,
        File,
        "ln -s $(dirname @FILE@) by-a-link; echo theirs >by-a-link/$(basename @FILE@)",
    ),
    attack(
        "applies_to_a_folder_that_became_a_link",
        Shell,
        File,
        "mkdir -p was; echo x >was/$(basename @FILE@); rm -r was; ln -s $(dirname @FILE@) was; echo theirs >was/$(basename @FILE@)",
    ),
    attack(
        "applies_above_the_folder",
        JavaScript,
        File,
        "const fs = require('fs'), path = require('path');
try { fs.mkdirSync('a/b', { recursive: true }); fs.writeFileSync(path.relative('.', '@FILE@'), 'theirs') } catch {}",
    ),
    attack(
        "stages_a_hard_link",
        Shell,
        File,
        "ln @FILE@ hard && echo theirs >>hard",
    ),
];
