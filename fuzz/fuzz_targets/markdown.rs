#![no_main]

ibid_fuzz::target!(Markdown);
