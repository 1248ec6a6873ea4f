#![no_main]

ibid_fuzz::target!(Doc);
