// Simulates a disk that loses power, fails or fills up; preloaded (LD_PRELOAD) into a server.
//
// Every write to a database file below POWERCUT_DIR is kept in memory until fdatasync makes it durable. At write number POWERCUT_AFTER the
// power is cut: the durable content and a random subset of the pending writes (the last one torn at a sector) are written to
// POWERCUT_DIR/cut, and the process exits. POWERCUT_EIO=n fails sync n of a database's log (its -wal file) with EIO. POWERCUT_ENOSPC=n
// fails write n to a log and the next four with ENOSPC. While a file POWERCUT_DIR/full exists, every write to a log fails with ENOSPC.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 16
#define FDS 4096

struct pending { off_t at; size_t length; unsigned char *bytes; struct pending *next; };
struct file { char name[64]; unsigned char *durable; size_t size; struct pending *first, *last; int gone; };

static struct file files[FILES];
static int fileCount;
static int8_t fileOf[FDS];  // 0: none, else index + 1
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static long cutAfter = -1, eioAt = -1, enospcAt = -1, writes, syncs, logWrites;
static uint64_t state;

static ssize_t (*realPwrite)(int, const void *, size_t, off_t);
static ssize_t (*realWrite)(int, const void *, size_t);
static int (*realSync)(int), (*realFullSync)(int), (*realClose)(int), (*realTruncate)(int, off_t);
static int (*realUnlink)(const char *);

static uint64_t next(void) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static long number(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : -1;
}

__attribute__((constructor)) static void begin(void) {
  realPwrite = dlsym(RTLD_NEXT, "pwrite64");
  realWrite = dlsym(RTLD_NEXT, "write");
  realSync = dlsym(RTLD_NEXT, "fdatasync");
  realFullSync = dlsym(RTLD_NEXT, "fsync");
  realClose = dlsym(RTLD_NEXT, "close");
  realTruncate = dlsym(RTLD_NEXT, "ftruncate64");
  realUnlink = dlsym(RTLD_NEXT, "unlink");
  folder = getenv("POWERCUT_DIR");
  cutAfter = number("POWERCUT_AFTER");
  eioAt = number("POWERCUT_EIO");
  enospcAt = number("POWERCUT_ENOSPC");
  state = (uint64_t)number("POWERCUT_SEED");
}

// NULL for files that are not of the database. The -shm file is shared memory, so no power cut tears it.
static struct file *find(int fd) {
  if (!folder || fd < 0 || fd >= FDS) return NULL;
  if (fileOf[fd]) return &files[fileOf[fd] - 1];
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return NULL;
  path[n] = 0;
  if (strncmp(path, folder, strlen(folder))) return NULL;
  const char *name = strrchr(path, '/') + 1;
  if (strncmp(name, "matches.sqlite", 14) || strstr(name, "-shm") || strstr(name, ".lock")) return NULL;
  int i = 0;
  while (i < fileCount && strcmp(files[i].name, name)) i++;
  if (i == fileCount) {
    if (fileCount == FILES) return NULL;
    struct file *f = &files[fileCount++];
    snprintf(f->name, sizeof f->name, "%s", name);
    struct stat s;
    if (!fstat(fd, &s) && s.st_size > 0) {  // the initial content is durable
      f->durable = malloc((size_t)s.st_size);
      f->size = (size_t)pread(fd, f->durable, (size_t)s.st_size, 0);
    }
  }
  fileOf[fd] = (int8_t)(i + 1);
  files[i].gone = 0;
  return &files[i];
}

static int isFull(void) {
  char path[1200];
  snprintf(path, sizeof path, "%s/full", folder);
  return access(path, F_OK) == 0;
}

static int isLog(struct file *f) { return strstr(f->name, "-wal") != NULL; }

static void apply(struct file *f, off_t at, const unsigned char *bytes, size_t length) {
  size_t end = (size_t)at + length;
  if (end > f->size) {
    f->durable = realloc(f->durable, end);
    memset(f->durable + f->size, 0, end - f->size);
    f->size = end;
  }
  memcpy(f->durable + at, bytes, length);
}

static void drain(struct file *f, int keepAll) {
  struct pending *p = f->first;
  while (p) {
    struct pending *after = p->next;
    if (keepAll || next() % 2) {
      size_t length = p->length;
      if (!keepAll && next() % 4 == 0) length = length / 512 * 512 / 2;  // torn
      if (length) apply(f, p->at, p->bytes, length);
    }
    free(p->bytes);
    free(p);
    p = after;
  }
  f->first = f->last = NULL;
}

static void cut(void) {
  char path[1200];
  snprintf(path, sizeof path, "%s/cut", folder);
  mkdir(path, 0700);
  for (int i = 0; i < fileCount; i++) {
    if (files[i].gone) continue;
    drain(&files[i], 0);
    snprintf(path, sizeof path, "%s/cut/%s", folder, files[i].name);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    size_t done = 0;
    while (done < files[i].size) {
      ssize_t n = realWrite(fd, files[i].durable + done, files[i].size - done);
      if (n <= 0) break;
      done += (size_t)n;
    }
    realClose(fd);
  }
  _exit(137);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) {
  pthread_mutex_lock(&lock);
  struct file *f = find(fd);
  if (f) {
    if (isLog(f)) {
      logWrites++;
      if ((enospcAt > 0 && logWrites >= enospcAt && logWrites < enospcAt + 5) || isFull()) {
        pthread_mutex_unlock(&lock);
        errno = ENOSPC;
        return -1;
      }
    }
    struct pending *p = malloc(sizeof *p);
    *p = (struct pending){at, length, malloc(length), NULL};
    memcpy(p->bytes, bytes, length);
    if (f->last) f->last->next = p; else f->first = p;
    f->last = p;
    if (cutAfter > 0 && ++writes >= cutAfter) cut();
  }
  ssize_t result = realPwrite(fd, bytes, length, at);
  pthread_mutex_unlock(&lock);
  return result;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return pwrite64(fd, bytes, length, at); }

static int sync_(int fd, int (*real)(int)) {
  pthread_mutex_lock(&lock);
  struct file *f = find(fd);
  if (f) {
    if (isLog(f) && ++syncs == eioAt) {
      // As in the kernel, an error at a sync discards the pending writes, and the next sync succeeds.
      drain(f, 0);
      pthread_mutex_unlock(&lock);
      errno = EIO;
      return -1;
    }
    drain(f, 1);
  }
  pthread_mutex_unlock(&lock);
  return f && cutAfter > 0 ? 0 : real(fd);  // the image in memory is the disk, so the real sync is not needed
}

int fdatasync(int fd) { return sync_(fd, realSync); }
int fsync(int fd) { return sync_(fd, realFullSync); }

int ftruncate64(int fd, off_t size) {
  pthread_mutex_lock(&lock);
  struct file *f = find(fd);
  if (f) {
    drain(f, 1);
    if ((size_t)size < f->size) f->size = (size_t)size;
  }
  int result = realTruncate(fd, size);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int close(int fd) {
  pthread_mutex_lock(&lock);
  if (fd >= 0 && fd < FDS) fileOf[fd] = 0;
  pthread_mutex_unlock(&lock);
  return realClose(fd);
}

// Deletes a rollback journal durably and at once: a journal that is left after a power cut would undo later writes.
int unlink(const char *path) {
  pthread_mutex_lock(&lock);
  const char *name = strrchr(path, '/');
  for (int i = 0; name && i < fileCount; i++) {
    if (strcmp(files[i].name, name + 1) || strncmp(path, folder, strlen(folder))) continue;
    drain(&files[i], 1);
    files[i].size = 0;
    files[i].gone = 1;
    for (int fd = 0; fd < FDS; fd++) if (fileOf[fd] == i + 1) fileOf[fd] = 0;
  }
  int result = realUnlink(path);
  pthread_mutex_unlock(&lock);
  return result;
}
