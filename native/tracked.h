// What both shims share: which paths lie below the folder that is watched. A shim is loaded before
// the C library (LD_PRELOAD), so that Node and SQLite call it in place of the library.
#ifndef STEMMA_TRACKED_H
#define STEMMA_TRACKED_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 65536
#define PATH_BYTES 4096

// The function of the library that a shim stands before.
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *root(void) {
  static const char *folder;
  if (folder == NULL) folder = getenv("STEMMA_IO_ROOT");
  return folder == NULL ? "" : folder;
}

// The part of a path below the root, `.` for the root itself, NULL for a path elsewhere.
static const char *below_root(const char *path) {
  size_t length = strlen(root());
  if (path == NULL || length == 0 || strncmp(path, root(), length) != 0) return NULL;
  if (path[length] == '\0') return ".";
  return path[length] == '/' ? path + length + 1 : NULL;
}

static mode_t mode_of(int flags, va_list rest) {
  return (flags & (O_CREAT | __O_TMPFILE)) == 0 ? 0 : (mode_t)va_arg(rest, int);
}

#endif
