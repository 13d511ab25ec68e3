/* Makes files with set-id bits in the directory that it is given, in every way there is. Prints the errno of each. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *separator = "{";
static void report(const char *name, long result) {
  printf("%s\"%s\":%d", separator, name, result < 0 ? errno : 0);
  separator = ",";
}

/* An ordinary file to change the mode of. */
static const char *plain(const char *name) {
  int fd = open(name, O_CREAT | O_WRONLY, 0755);
  if (fd >= 0) close(fd);
  return name;
}

int main(int count, char **arguments) {
  if (count < 2 || chdir(arguments[1]) != 0) return 1;
  report("ordinary", chmod(plain("ordinary"), 0751));
  report("sticky", chmod(plain("sticky"), 01755));
  report("created", open("created", O_CREAT | O_WRONLY, 0755));
  /* A mode that means nothing, because no file is made. */
  report("opened", syscall(SYS_openat, AT_FDCWD, "created", O_WRONLY, 06777));
  /* The kernel leaves the bits out by itself. */
  report("directory", mkdir("directory", 06755));

  report("chmod", syscall(SYS_fchmodat, AT_FDCWD, plain("chmod"), 04755));
  report("chmod_group", chmod(plain("chmod_group"), 02755));
  report("chmod_both", chmod(plain("chmod_both"), 06755));
  report("fchmod", fchmod(open(plain("fchmod"), O_RDONLY), 04755));
  report("fchmodat2", syscall(452, AT_FDCWD, plain("fchmodat2"), 04755, 0));
  mkdir("set_directory", 0755);
  report("set_directory", chmod("set_directory", 02755));
  report("open", open("open", O_CREAT | O_WRONLY, 04755));
  report("openat", syscall(SYS_openat, AT_FDCWD, "openat", O_CREAT | O_WRONLY | O_EXCL, 02755));
  report("creat", creat("creat", 04755));
  report("mknod", mknod("mknod", S_IFREG | 04755, 0));
  int unnamed = open(".", O_TMPFILE | O_RDWR, 04755);
  report("unnamed", unnamed);
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", unnamed);
  if (unnamed >= 0) linkat(AT_FDCWD, link, AT_FDCWD, "unnamed", AT_SYMLINK_FOLLOW);
  struct open_how how = {.flags = O_CREAT | O_WRONLY, .mode = 04755};
  report("openat2", syscall(SYS_openat2, AT_FDCWD, "openat2", &how, sizeof how));
#ifdef SYS_chmod
  report("old_chmod", syscall(SYS_chmod, plain("old_chmod"), 04755));
  report("old_open", syscall(SYS_open, "old_open", O_CREAT | O_WRONLY, 04755));
  report("old_creat", syscall(SYS_creat, "old_creat", 04755));
  report("old_mknod", syscall(SYS_mknod, "old_mknod", S_IFREG | 04755, 0));
#endif
  puts("}");
  return 0;
}
