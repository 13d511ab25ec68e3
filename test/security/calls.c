/* Asks the kernel for what a box must not have. Prints errno of each request, 0 when it was granted. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *separator = "{";

static void report(const char *name, long result) {
  printf("%s\"%s\":%d", separator, name, result < 0 ? errno : 0);
  separator = ",";
}

static long in_child(long (*action)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(action() < 0 ? errno : 0);
  int status = 0;
  waitpid(child, &status, 0);
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  return errno == 0 ? 0 : -1;
}

static long nothing(void) { return 0; }
static long unshare_user(void) { return unshare(CLONE_NEWUSER); }
static long unshare_net(void) { return unshare(CLONE_NEWNET); }
static long unshare_mount(void) { return unshare(CLONE_NEWNS); }
static long become_root(void) { return setuid(0); }
static long drop_seccomp(void) { return prctl(PR_SET_SECCOMP, SECCOMP_MODE_DISABLED, 0); }
static long allow_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0); }
static long bind_mount(void) { return mount("/usr", "/workspace/made", 0, MS_BIND, 0); }
static long remount_usr(void) { return mount(0, "/usr", 0, MS_REMOUNT | MS_BIND, 0); }
static long remount_root(void) { return mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0); }
static long remount_link(void) { return mount(0, "/run/agentbox", 0, MS_REMOUNT | MS_BIND, 0); }
static long mount_tmpfs(void) { return mount("none", "/workspace/made", "tmpfs", 0, 0); }
static long mount_proc(void) { return mount("proc", "/workspace/made", "proc", 0, 0); }
static long unmount_usr(void) { return umount2("/usr", MNT_DETACH); }
static long change_root(void) { return chroot("/workspace"); }
static long make_device(void) { return mknod("/workspace/device", S_IFBLK | 0600, makedev(254, 0)); }

static long clone_user(void) {
  long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  return child;
}

static long enter_init(void) {
  int fd = open("/proc/1/ns/user", O_RDONLY);
  return fd < 0 ? -1 : setns(fd, CLONE_NEWUSER);
}

static long trace(pid_t pid) {
  long result = ptrace(PTRACE_ATTACH, pid, 0, 0);
  return result == 0 ? result : ptrace(PTRACE_SEIZE, pid, 0, 0);
}
static long trace_first(void) { return trace(1); }
static long trace_boxd(void) { return trace(2); }

int main(void) {
  char zeros[128] = {0};
  int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
  report("fork", in_child(nothing));
  report("unshare_user", in_child(unshare_user));
  report("unshare_net", in_child(unshare_net));
  report("unshare_mount", in_child(unshare_mount));
  report("clone_user", in_child(clone_user));
  report("clone3", syscall(SYS_clone3, 0, 0));
  report("setns", in_child(enter_init));
  report("setuid", in_child(become_root));
  report("drop_seccomp", in_child(drop_seccomp));
  report("allow_privileges", in_child(allow_privileges));
  mkdir("/workspace/made", 0700);
  report("bind_mount", in_child(bind_mount));
  report("remount_usr", in_child(remount_usr));
  report("remount_root", in_child(remount_root));
  report("remount_link", in_child(remount_link));
  report("mount_tmpfs", in_child(mount_tmpfs));
  report("mount_proc", in_child(mount_proc));
  report("unmount_usr", in_child(unmount_usr));
  report("chroot", in_child(change_root));
  report("mknod", in_child(make_device));
  report("fsopen", syscall(430, "tmpfs", 0));
  report("open_tree", syscall(428, -100, "/usr", 1));
  report("mount_setattr", syscall(442, -100, "/usr", 0, zeros, 32));
  report("bpf", syscall(SYS_bpf, 0, zeros, sizeof zeros));
  report("perf_event_open", syscall(SYS_perf_event_open, zeros, 0, -1, -1, 0));
  report("keyctl", syscall(SYS_keyctl, 0, -3, 1));
  report("add_key", syscall(SYS_add_key, "user", "x", "x", 1, -3));
  report("io_uring_setup", syscall(SYS_io_uring_setup, 1, zeros));
  report("userfaultfd", syscall(SYS_userfaultfd, 1));
  report("init_module", syscall(SYS_init_module, zeros, 0, ""));
  report("finit_module", syscall(SYS_finit_module, -1, "", 0));
  report("af_alg", socket(38, SOCK_SEQPACKET, 0));
  report("open_by_handle_at", syscall(SYS_open_by_handle_at, -100, zeros, 0));
  report("process_vm_readv", syscall(SYS_process_vm_readv, 2, 0, 0, 0, 0, 0));
  report("pidfd_getfd", syscall(438, -1, 0, 0));
  report("trace_first", in_child(trace_first));
  report("trace_boxd", in_child(trace_boxd));
  report("tiocsti", syscall(SYS_ioctl, terminal, (unsigned long)TIOCSTI, "x"));
  report("tiocsti_high", syscall(SYS_ioctl, terminal, 0xdeadbeef00000000UL | TIOCSTI, "x"));
  report("tioclinux", syscall(SYS_ioctl, terminal, (unsigned long)TIOCLINUX, "x"));
  report("tioclinux_high", syscall(SYS_ioctl, terminal, 0xdeadbeef00000000UL | TIOCLINUX, "x"));
  report("winsize", syscall(SYS_ioctl, terminal, (unsigned long)TIOCGWINSZ, zeros));
  printf("}\n");
  return 0;
}
