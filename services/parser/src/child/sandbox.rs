//! A system call filter: no network, no other programs, no writing of files. Best effort: where
//! the kernel lacks it, the parent says so once and the other limits stand.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Refused whatever their arguments. `io_uring` is among them because it does the others' work
/// unseen; sending is not, because the socket to the parent is the only one there can be.
const REFUSED: [libc::c_long; 32] = [
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kill,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_bpf,
    libc::SYS_mount,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_openat2,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_memfd_create,
];

/// The calls of older machines that the ones above replaced.
#[cfg(target_arch = "x86_64")]
const REFUSED_OLD: [libc::c_long; 9] = [
    libc::SYS_creat,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_chmod,
    libc::SYS_chown,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_OLD: [libc::c_long; 0] = [];

/// Why the filter does not hold.
#[derive(Debug, thiserror::Error)]
pub(super) enum SandboxError {
    #[error("this machine has no system call filter")]
    Unsupported(#[from] seccompiler::BackendError),
    #[error("the kernel does not take the system call filter")]
    Refused(#[from] seccompiler::Error),
}

/// Filters the system calls of all threads of this process, for good.
pub(super) fn enter() -> Result<(), SandboxError> {
    let mut rules: BTreeMap<libc::c_long, Vec<SeccompRule>> = REFUSED
        .iter()
        .chain(&REFUSED_OLD)
        .map(|&call| (call, Vec::new()))
        .collect();
    rules.insert(libc::SYS_openat, writing(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, writing(1)?);
    let denied = u32::try_from(libc::EPERM).unwrap_or(1);
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(denied),
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter_all_threads(&program)?;
    Ok(())
}

/// Rules that hold when the flags in argument `at` open for writing or make a file.
fn writing(at: u8) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT]
        .into_iter()
        .map(|flag| {
            let flag = u64::from(flag.unsigned_abs());
            let is_set = SeccompCmpOp::MaskedEq(flag);
            let length = SeccompCmpArgLen::Dword;
            SeccompRule::new(vec![SeccompCondition::new(at, length, is_set, flag)?])
        })
        .collect()
}
