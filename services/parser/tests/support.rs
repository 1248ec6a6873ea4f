//! What the parser's tests share.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parser::error::PoolError;
use parser::extract::{Extraction, SecondReader};
use parser::ocr::OcrPlan;
use parser::pool::{Limits, Plan, Pool};
use parser::wire::Task;
use pdf_writer::{Content, Finish as _, Name, Pdf, Rect, Ref, Str, TextStr};
use shared::format::Format;

/// A part of the corpus: below `IBID_CORPUS`, else beside the workspace. `None`, with a word, when
/// it is not there.
pub(crate) fn corpus(part: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let root = shared::settings::variable("IBID_CORPUS").map_or_else(beside, PathBuf::from);
    let folder = root.join(part);
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "skipped: no corpus at `{}`; set `IBID_CORPUS`",
        folder.display()
    );
    None
}

/// PDFium where `ibid setup` puts it.
pub(crate) fn second_reader() -> SecondReader {
    let path = shared::settings::assets_dir().join("pdfium/libpdfium.so");
    if path.is_file() {
        return SecondReader::Library(path);
    }
    println!(
        "without PDFium: `{}` is not there; run `ibid setup`",
        path.display()
    );
    SecondReader::Absent("its library is not there".to_owned())
}

/// The parser's own children, with limits that a test changes as it needs.
pub(crate) fn plan() -> Plan {
    Plan {
        program: env!("CARGO_BIN_EXE_ibid-parser").into(),
        arguments: vec!["extract-child".to_owned()],
        ocr: OcrPlan::absent("not used here"),
        second_reader: second_reader(),
        limits: Limits {
            memory_bytes: 1 << 30,
            wall_clock: Duration::from_mins(1),
            cpu_secs: 60,
            output_bytes: 16 << 20,
            files_per_child: 50,
        },
    }
}

/// A pool of one child.
pub(crate) fn pool(plan: Plan) -> Pool {
    Pool::start(plan, NonZeroUsize::MIN).unwrap()
}

/// Reads `bytes` in a child.
pub(crate) async fn extract(
    pool: &Pool,
    format: Format,
    name: &str,
    bytes: &[u8],
) -> Result<Extraction, PoolError> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    pool.extract(
        Task {
            format,
            name: name.to_owned(),
            password: None,
        },
        file,
    )
    .await
}

/// A ZIP archive of these entries, packed.
pub(crate) fn zipped(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in entries {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A page of a generated PDF.
#[derive(Default)]
pub(crate) struct Page {
    /// Size in points and text, from the top down.
    pub(crate) lines: Vec<(f32, &'static str)>,
    /// Whether a picture covers it.
    pub(crate) picture: bool,
}

/// A PDF of `pages` with Helvetica; `front` pages at its beginning are labelled i, ii, …
pub(crate) fn pdf(title: &str, front: usize, pages: &[Page]) -> Vec<u8> {
    let mut next = 0;
    let mut id = || {
        next += 1;
        Ref::new(next)
    };
    let (catalog, tree, font, image, info) = (id(), id(), id(), id(), id());
    let (roman, arabic) = (id(), id());
    let refs: Vec<_> = pages.iter().map(|_| (id(), id())).collect();
    let mut pdf = Pdf::new();
    pdf.document_info(info).title(TextStr(title));
    let mut root = pdf.catalog(catalog);
    root.pages(tree);
    if front > 0 {
        let arabic_from = i32::try_from(front).unwrap();
        root.page_labels()
            .nums()
            .insert(0, roman)
            .insert(arabic_from, arabic);
    }
    root.finish();
    pdf.indirect(roman).dict().pair(Name(b"S"), Name(b"r"));
    pdf.indirect(arabic).dict().pair(Name(b"S"), Name(b"D"));
    pdf.pages(tree)
        .kids(refs.iter().map(|(page, _)| *page))
        .count(i32::try_from(pages.len()).unwrap());
    pdf.type1_font(font).base_font(Name(b"Helvetica"));
    let pixel = [128_u8; 3];
    let mut picture = pdf.image_xobject(image, &pixel);
    picture
        .width(1)
        .height(1)
        .bits_per_component(8)
        .color_space()
        .device_rgb();
    picture.finish();
    for (page, (page_ref, content_ref)) in pages.iter().zip(&refs) {
        let mut writer = pdf.page(*page_ref);
        writer
            .media_box(Rect::new(0.0, 0.0, 595.0, 842.0))
            .parent(tree)
            .contents(*content_ref);
        let mut resources = writer.resources();
        resources.fonts().pair(Name(b"F"), font);
        resources.x_objects().pair(Name(b"P"), image);
        resources.finish();
        writer.finish();
        pdf.stream(*content_ref, &content(page));
    }
    pdf.finish()
}

fn content(page: &Page) -> Vec<u8> {
    let mut content = Content::new();
    if page.picture {
        content.save_state();
        content.transform([595.0, 0.0, 0.0, 842.0, 0.0, 0.0]);
        content.x_object(Name(b"P"));
        content.restore_state();
    }
    let mut y = 780.0;
    for (size, line) in &page.lines {
        content.begin_text();
        content.set_font(Name(b"F"), *size);
        content.next_line(72.0, y);
        content.show(Str(line.as_bytes()));
        content.end_text();
        y -= size * 1.4;
    }
    content.finish().to_vec()
}
