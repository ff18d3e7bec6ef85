#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DRAIN_BYTES = 1048576 /* no pipe holds more */, FAREWELL_TRIES = 500, FAREWELL_PAUSE_NS = 10000000 };

struct job *jobs;
int lingering;

static struct job *find_job(uint32_t id) {
  for (struct job *job = jobs; job; job = job->next)
    if (job->id == id) return job;
  return NULL;
}

static struct job *find_leader(pid_t pid) {
  for (struct job *job = jobs; job; job = job->next)
    if (job->pid == pid) return job;
  return NULL;
}

struct job *new_job(uint32_t id) {
  struct job *job = calloc(1, sizeof *job);
  if (!job) return NULL;
  job->id = id;
  job->out = (struct source){SOURCE_STDOUT, -1, job};
  job->err = (struct source){SOURCE_STDERR, -1, job};
  job->in = (struct source){SOURCE_STDIN, -1, job};
  job->told = (struct source){SOURCE_TOLD, -1, job};
  job->out_writer = job->err_writer = -1;
  job->next = jobs;
  jobs = job;
  return job;
}

static void close_if_open(int fd) {
  if (fd >= 0) close(fd);
}

void drop_job(struct job *job) {
  struct job **link = &jobs;
  while (*link != job) link = &(*link)->next;
  *link = job->next;
  if (job->lingers) lingering--;
  unwatch(&job->out);
  unwatch(&job->err);
  unwatch(&job->in);
  unwatch(&job->told);
  close_if_open(job->out_writer);
  close_if_open(job->err_writer);
  free(job->text);
  free(job);
}

static int open_pipes(struct job *job, int stdin_ends[ENDS]) {
  int out[ENDS], err[ENDS];
  if (open_pipe(out) < 0) return -1;
  job->out_writer = out[1];
  if (watch(&job->out, out[0]) < 0 || open_pipe(err) < 0) return -1;
  job->err_writer = err[1];
  if (watch(&job->err, err[0]) < 0) return -1;
  if (!job->text) return 0;
  if (open_pipe(stdin_ends) < 0) return -1;
  fcntl(stdin_ends[1], F_SETFL, O_NONBLOCK);
  return watch(&job->in, stdin_ends[1]);
}

void start_job(uint32_t id, const char *folder, char **argv, char **env, char *text, size_t text_size) {
  int in[ENDS] = {-1, -1};
  struct job *job = new_job(id);
  if (!job) {
    free(text);
    frame_refused(id, ENOMEM, STAGE_FORK);
    return;
  }
  job->text = text;
  job->text_size = text_size;
  if (open_pipes(job, in) == 0) {
    struct program program = {id, folder, argv, env, text ? in[0] : null_fd, job->out_writer, job->err_writer, -1};
    job->pid = spawn(&program);
  } else job->pid = -1;
  if (job->pid < 0) {
    frame_refused(id, errno, STAGE_FORK);
    drop_job(job);
  } else frame_started(job);
  close_if_open(in[0]);
}

/* Hands on what one read gives; returns how much that was. */
static ssize_t relay_once(struct source *source) {
  ssize_t got = read(source->fd, frame_room(CHUNK_BYTES), CHUNK_BYTES);
  if (got > 0) frame_output(source->kind == SOURCE_STDOUT ? 'O' : 'E', source->job->id, got);
  return got;
}

/* A shell that waits has nothing to say; what it says all the same must not wake us again. */
static void discard(int fd) {
  char chunk[4096];
  while (read(fd, chunk, sizeof chunk) < 0 && errno == EINTR) continue;
}

void relay(struct source *source) {
  if (source->job->id) relay_once(source);
  else discard(source->fd);
}

/* What the pipe holds now, and no more: a process that has left the group may go on writing. */
void drain(struct source *source) {
  ssize_t taken = 0, got;
  int waiting;
  while (taken < MAX_DRAIN_BYTES && ioctl(source->fd, FIONREAD, &waiting) == 0 && waiting > 0) {
    if ((got = relay_once(source)) <= 0) break;
    taken += got;
  }
}

void feed(struct job *job) {
  ssize_t written = write(job->in.fd, job->text + job->text_at, job->text_size - job->text_at);
  if (written > 0) job->text_at += written;
  if (written < 0 ? errno == EINTR || errno == EAGAIN : job->text_at < job->text_size) return;
  unwatch(&job->in);
}

static void read_refusals(void) {
  struct refusal refusal;
  int waiting;
  while (ioctl(refusals[0], FIONREAD, &waiting) == 0 && waiting > 0) {
    if (read(refusals[0], &refusal, sizeof refusal) != sizeof refusal) return;
    struct job *job = find_job(refusal.id);
    if (job) job->refusal = refusal;
  }
}

static void finish(struct job *job) {
  drain(&job->out);
  drain(&job->err);
  if (job->refusal.error) frame_refused(job->id, job->refusal.error, job->refusal.stage);
  else frame_ended(job, !job->is_shell && job->is_reaped);
  drop_job(job);
}

static int is_group_alive(pid_t group) { return kill(-group, 0) == 0 || errno == EPERM; }

static void main_process_ended(struct job *job) {
  if (!job->id) {
    drop_job(job);
    return;
  }
  if (WIFEXITED(job->status) && WEXITSTATUS(job->status) == REFUSED_EXIT) read_refusals();
  if (!is_group_alive(job->pid)) {
    finish(job);
    return;
  }
  lingering++;
  job->lingers = 1;
  frame('L', job->id, NULL, 0, IS_URGENT);
}

static uint64_t microseconds(struct timeval time) { return time.tv_sec * UINT64_C(1000000) + time.tv_usec; }

static void add_usage(struct job *job, const struct rusage *used) {
  job->usage.cpu_us += microseconds(used->ru_utime) + microseconds(used->ru_stime);
  if ((uint64_t)used->ru_maxrss > job->usage.peak_kib) job->usage.peak_kib = used->ru_maxrss;
  job->usage.blocks_read += used->ru_inblock;
  job->usage.blocks_written += used->ru_oublock;
}

/* Reaps the next process that has ended; 0 if there is none. One whose parent has gone counts for the job whose group
 * it is in. */
static int reap_next(void) {
  siginfo_t ended = {.si_pid = 0};
  struct rusage used;
  int status;
  if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 || ended.si_pid == 0) return 0;
  struct job *leader = find_leader(ended.si_pid);
  struct job *owner = leader ? leader : find_leader(getpgid(ended.si_pid));
  if (wait4(ended.si_pid, &status, WNOHANG, &used) != ended.si_pid) return 0;
  if (owner) add_usage(owner, &used);
  if (leader) {
    leader->status = status;
    leader->is_reaped = 1;
  }
  return 1;
}

/* All of the dead first: one that is still to be reaped would pass for a living member of its group. */
void reap(void) {
  if (!reap_next()) return;
  while (reap_next()) continue;
  for (struct job *job = jobs, *next; job; job = next) {
    next = job->next;
    if (job->is_reaped && !job->lingers) main_process_ended(job);
  }
}

void end_lingering(void) {
  for (struct job *job = jobs, *next; job && lingering; job = next) {
    next = job->next;
    if (job->lingers && !is_group_alive(job->pid)) finish(job);
  }
}

void signal_job(uint32_t id, int signal) {
  struct job *job = find_job(id);
  if (!job) return;
  if (signal == 0) {
    if (!job->is_reaped) job->status = SIGKILL;
    finish(job);
    return;
  }
  job->was_signaled = 1;
  if (kill(-job->pid, signal) < 0 && !job->is_reaped) kill(job->pid, signal);
}

_Noreturn void farewell(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL); /* the end of a process ends the pause, too */
  for (int try = 0; try < FAREWELL_TRIES; try++) {
    int left = 0;
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    for (struct job *job = jobs; job; job = job->next)
      if (job->pid > 0 && kill(-job->pid, SIGKILL) == 0) left++;
    if (!left) break;
    nanosleep(&(struct timespec){0, FAREWELL_PAUSE_NS}, NULL);
  }
  _exit(0);
}
