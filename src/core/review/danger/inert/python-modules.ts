/**
 * Modules that come with Python. A file or a directory of such a name is loaded in the module's place by every program that is
 * started beside it.
 */
const modules = new Set(
  [
    "abc aifc argparse array ast asyncio base64 bdb binascii bisect bz2 calendar cmath cmd code codecs codeop collections",
    "colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv ctypes curses dataclasses datetime dbm",
    "decimal difflib dis doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions",
    "ftplib functools gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imp importlib inspect",
    "io ipaddress itertools json keyword linecache locale logging lzma mailbox marshal math mimetypes mmap multiprocessing",
    "netrc ntpath numbers opcode operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posixpath",
    "pprint profile pstats pty pwd py_compile pyclbr pydoc queue quopri random re readline reprlib resource rlcompleter runpy",
    "sched secrets select selectors shelve shlex shutil signal smtplib socket socketserver sqlite3 sre_compile ssl stat",
    "statistics string stringprep struct subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile termios textwrap",
    "threading timeit token tokenize tomllib trace traceback tracemalloc tty types typing unicodedata unittest urllib uuid venv",
    "warnings wave weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo",
    // Not part of Python, and loaded by nearly all that installs, tests or checks.
    "_pytest attr coverage packaging pip pkg_resources pluggy py pytest setuptools six wheel yaml",
  ].flatMap((names) => names.split(" ")),
);

/**
 * Whether a new file, folded, takes the place of a module: in a directory that is no package, where programs and test
 * runners look first. `packages` and `withPython` are the directories of before.
 */
export function replacesModule(
  parts: readonly string[],
  name: string,
  packages: ReadonlySet<string>,
  withPython: ReadonlySet<string>,
): boolean {
  const stem = /^(.+)\.py[cdx]?$/.exec(name)?.[1];
  if (stem === undefined) return false;
  if (modules.has(stem) && !packages.has(parts.join("/"))) return true;
  return parts.some(
    (part, at) =>
      modules.has(part) &&
      !packages.has(parts.slice(0, at).join("/")) &&
      // One that was there before is in its place already.
      !withPython.has(parts.slice(0, at + 1).join("/")),
  );
}
