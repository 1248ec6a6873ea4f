#![no_main]

ibid_fuzz::target!(Eml);
