/*
 * Tries system calls and prints, as JSON, the error each one ends with; 0 is success. It also runs outside of a box,
 * as the control, so nothing here may change the host, whichever user runs it: what could has arguments the kernel refuses
 * (EFAULT, EINVAL) after a filter would have answered.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int first = 1;

static void report(const char *name, long result) {
  printf("%s\"%s\":%d", first ? "{" : ",", name, result < 0 ? errno : 0);
  first = 0;
  fflush(stdout);
}

/* In a child, because success would change the process that asks. */
static long in_child(long (*action)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(action() < 0 ? errno : 0);
  int status = 0;
  waitpid(child, &status, 0);
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  return errno == 0 ? 0 : -1;
}

static long unshare_user(void) { return syscall(SYS_unshare, CLONE_NEWUSER); }
static long nothing(void) { return 0; }
static long odd_personality(void) { return syscall(SYS_personality, 0x0400000); }

static long clone_newuser(void) {
  long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  return child;
}

static long ptrace_child(void) {
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSTOPPED(status) ? ptrace(PTRACE_CONT, child, 0, 0) : -1;
}

static long ptrace_attach(void) {
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  long result = ptrace(PTRACE_ATTACH, child, 0, 0);
  int error = errno;
  kill(child, SIGKILL);
  errno = error;
  return result;
}

int main(void) {
  char zeros[128] = {0};
  int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
  report("unshare_user", in_child(unshare_user));
  report("clone_newuser", in_child(clone_newuser));
  report("clone3", syscall(SYS_clone3, 0, 0));
  report("future", syscall(600));
  report("mount", syscall(SYS_mount, 0, 0, 0, 0, 0));
  report("bpf", syscall(SYS_bpf, 0, zeros, sizeof zeros));
  report("perf", syscall(SYS_perf_event_open, zeros, 0, -1, -1, 0));
  report("keyctl", syscall(SYS_keyctl, 0, -3, 1));
  report("io_uring", syscall(SYS_io_uring_setup, 1, zeros));
  report("userfaultfd", syscall(SYS_userfaultfd, 1));
  report("af_alg", socket(38, SOCK_SEQPACKET, 0));
  report("af_packet", socket(17, SOCK_RAW, 0));
  report("af_vsock", socket(40, SOCK_STREAM, 0));
  report("af_key", socket(15, SOCK_RAW, 2));
  report("netlink_other", socket(16, SOCK_RAW, 12));
  report("raw", socket(AF_INET, SOCK_RAW, 1));
  report("tcp", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  report("udp", socket(AF_INET6, SOCK_DGRAM, 0));
  report("unix", socket(AF_UNIX, SOCK_STREAM, 0));
  report("netlink_route", socket(16, SOCK_RAW | SOCK_CLOEXEC, 0));
  report("tiocsti", syscall(SYS_ioctl, terminal, (unsigned long)TIOCSTI, "x"));
  report("tiocsti_high", syscall(SYS_ioctl, terminal, 0xdeadbeef00000000UL | TIOCSTI, "x"));
  report("tioclinux", syscall(SYS_ioctl, terminal, (unsigned long)TIOCLINUX, "x"));
  report("ptrace_attach", in_child(ptrace_attach));
  report("ptrace_child", in_child(ptrace_child));
  report("personality", in_child(odd_personality));
  report("fork", in_child(nothing));
  printf("}\n");
  return 0;
}
