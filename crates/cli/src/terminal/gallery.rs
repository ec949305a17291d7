//! The results of a session that are more than text: each saved as a file, named in a row, painted
//! where the terminal can, and opened when the person asks for it.
//!
//! Must not open anything by itself, nor anything but files that were saved here.

use super::{
    opener,
    ours::{Ours, ours, word},
    picture::{self, Colours, Graphics, Painted, Room},
    screen::Screen,
};
use interpreter_core::{
    Output, Untrusted,
    forms::{Form, Names, forms},
};
use interpreter_store::{Environment, Folders, ResultFiles};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Pictures of one run that are painted; of the others there is a row.
const MOST_PAINTED: u32 = 20;

/// The results of one session.
#[derive(Debug)]
pub(crate) struct Gallery {
    files: ResultFiles,
    names: Names,
    saved: Vec<Saved>,
    colours: Option<Colours>,
    graphics: Option<Graphics>,
    /// The run that shows pictures now, and how many were painted.
    painted: (String, u32),
}

/// A form that was saved.
#[derive(Debug)]
struct Saved {
    /// The name of the result, such as `p3-1`.
    name: String,
    /// The name of its file.
    file: String,
    /// The file that is opened for it.
    opened: PathBuf,
}

/// One result, as it is shown.
#[derive(Debug)]
pub(crate) struct Exhibit {
    /// Its best form: what it is, its file, and whatever else is known of it.
    row: Option<(Ours, Ours, PathBuf)>,
    picture: Option<Painted>,
    remarks: Vec<String>,
}

impl Gallery {
    pub(crate) fn new(folders: &Folders, environment: &Environment, session: &str) -> Self {
        Self {
            files: ResultFiles::new(folders, session),
            names: Names::default(),
            saved: Vec::new(),
            colours: Colours::of(environment),
            graphics: None,
            painted: Default::default(),
        }
    }

    /// Whether the terminal has not been asked yet.
    pub(super) fn wants_graphics(&self) -> bool {
        self.graphics.is_none()
    }

    /// Notes how the terminal can show pictures.
    pub(super) fn use_graphics(&mut self, graphics: Graphics) {
        self.graphics = Some(graphics);
    }

    /// Saves the forms of an output, and prepares the best for a room on the screen.
    pub(super) async fn take(
        &mut self,
        output: &Output,
        room: Option<Room>,
        opens: bool,
    ) -> Exhibit {
        let (forms, unfit) = forms(output);
        let mut remarks: Vec<_> =
            unfit.iter().map(|one| format!("no file for {}: {}", one.mime, one.reason)).collect();
        let mut row = None;
        if !forms.is_empty() {
            let name = self.names.name(output);
            match self.save(&name, &forms) {
                Ok(Some((file, path))) => {
                    row = Some((described(&name, &file, &forms, opens), word(&file), path));
                }
                Ok(None) => remarks.push(
                    "not saved: the session has used up its room; `interpreter history show \
                     --save FOLDER` writes all results"
                        .into(),
                ),
                Err(error) => remarks.push(format!("not saved: {error}")),
            }
        }
        let picture = match (room, forms.into_iter().next()) {
            (Some(room), Some(form)) => self.paint(&output.proposal, form, room).await,
            (None | Some(_), _) => None,
        };
        Exhibit { row, picture, remarks }
    }

    /// Saves all forms; the first one's file and path.
    fn save(
        &mut self,
        name: &str,
        forms: &[Form],
    ) -> Result<Option<(String, PathBuf)>, interpreter_store::StoreError> {
        let mut first = None;
        self.saved.retain(|saved| saved.name != name);
        for form in forms {
            let ending = form.kind.ending();
            let file = format!("{name}.{ending}");
            let Some(path) = self.files.save(&file, &form.bytes)? else { break };
            let opened = match form.page() {
                Some(page) => {
                    let shown = format!("{name}-{ending}.html");
                    let Some(path) = self.files.save(&shown, page.as_bytes())? else { break };
                    path
                }
                None => path.clone(),
            };
            self.saved.push(Saved { name: name.to_owned(), file: file.clone(), opened });
            first.get_or_insert((file, path));
        }
        Ok(first)
    }

    /// Paints on another thread: a large picture takes a while.
    async fn paint(&mut self, run: &str, form: Form, room: Room) -> Option<Painted> {
        if self.painted.0 != run {
            self.painted = (run.to_owned(), 0);
        }
        if self.painted.1 >= MOST_PAINTED || !form.kind.is_picture() {
            return None;
        }
        self.painted.1 += 1;
        let (graphics, colours) = (self.graphics.unwrap_or_default(), self.colours);
        let painted = move || picture::paint(&form, room, graphics, colours);
        tokio::task::spawn_blocking(painted).await.ok().flatten()
    }

    /// Opens a result, or the newest one, in the person's own viewer.
    pub(crate) async fn open(
        &self,
        name: Option<&str>,
        environment: &Environment,
        screen: &mut Screen,
    ) -> io::Result<()> {
        let named =
            |saved: &&Saved| name.is_none_or(|name| saved.name == name || saved.file == name);
        // Of the newest result, its best form.
        let newest = self.saved.iter().rfind(named).map(|saved| &saved.name);
        let mut matching = self.saved.iter().filter(|saved| Some(&saved.name) == newest);
        let Some(saved) = matching.find(named) else {
            return match (name, self.saved.last()) {
                (_, None) => screen.say("Nothing to open: no result of this session is a file."),
                (None, Some(_)) => Ok(()),
                (Some(name), Some(last)) => {
                    let name = Untrusted::new(name).for_terminal_line(40);
                    screen.tell(&format!("No result `{name}`; the newest is {}.", last.name))
                }
            };
        };
        match opener::open(&saved.opened, environment).await {
            Ok(()) => screen.say_quietly(ours("Opening ") + word(&saved.file) + " …"),
            Err(reason) => {
                screen.say(reason)?;
                screen.row(&saved.opened.to_string_lossy())
            }
        }
    }
}

/// The row of a result.
fn described(name: &str, file: &str, forms: &[Form], opens: bool) -> Ours {
    let mut row = ours("");
    if let Some(best) = forms.first() {
        row = row + best.kind.word() + " " + word(file);
        if let Some((width, height)) = best.size {
            row = row + " " + width + "×" + height;
        }
    }
    if forms.len() > 1 {
        let others = forms[1..].iter().map(|form| ours(form.kind.ending()));
        row = row + " · also " + Ours::joined(others, ", ");
    }
    if opens { row + " · /open " + word(name) } else { row }
}

impl Exhibit {
    /// Shows the row and the path, and what could not be saved.
    pub(super) fn show(&self, screen: &mut Screen) -> io::Result<()> {
        if let Some((row, file, path)) = &self.row {
            screen.say_linked(row, file, path)?;
            screen.row(&shown(path))?;
        }
        self.remarks.iter().try_for_each(|remark| screen.row(remark))
    }

    /// Paints the picture, if there is one.
    pub(super) fn paint(&self, screen: &mut Screen) -> io::Result<()> {
        self.picture.as_ref().map_or(Ok(()), |picture| screen.picture(picture))
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
