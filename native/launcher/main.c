#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
  EVENTS_AT_ONCE = 64,
  GROUP_POLL_MS = 4, /* between two looks at a group that should become empty */
  LAZY_MS = 50,      /* frames that are not urgent wait no longer */
  NO_LIMIT = -1
};

/* Those that a worker takes as a request to leave. */
static const int STOPS[] = {SIGTERM, SIGINT, SIGHUP};

int null_fd, refusals[ENDS];
static int epoll_fd;

/* Above 3, which is free for the waiting shells. */
int open_pipe(int ends[ENDS]) { return pipe2(ends, O_CLOEXEC); }

int watch(struct source *source, int fd) {
  source->fd = fd;
  if (fd < 0) return -1;
  struct epoll_event event = {source->kind == SOURCE_STDIN ? EPOLLOUT : EPOLLIN, {.ptr = source}};
  return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* Nobody else has this end of the pipe, so closing it takes it out of the list too. */
void unwatch(struct source *source) {
  if (source->fd >= 0) close(source->fd);
  source->fd = -1;
}

static volatile sig_atomic_t is_told_to_stop;

static void interrupt(int signal) { (void)signal; }

static void note_stop(int signal) {
  (void)signal;
  is_told_to_stop = 1;
}

/* A handler, unlike an ignored signal, does not survive exec. */
static void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(signal, &action, NULL);
}

/* A stop that a new process gets before it executes its program is meant for that program: the handler would swallow it. */
void forget_stops(void) {
  for (size_t at = 0; at < sizeof STOPS / sizeof *STOPS; at++) handle(STOPS[at], SIG_DFL);
}

/* Whoever stops all processes of a machine or of a batch job stops this one too. The engine decides what follows. */
static void tell_stop(void) {
  if (!is_told_to_stop) return;
  is_told_to_stop = 0;
  frame('T', 0, NULL, 0, IS_URGENT);
}

static void serve(struct source *source) {
  if (source->kind == SOURCE_TOLD) end_in_shell(source->job);
  else if (source->kind == SOURCE_STDIN) feed(source->job);
  else relay(source);
}

static _Noreturn void run(const sigset_t *open_to_all) {
  struct epoll_event events[EVENTS_AT_ONCE];
  for (;;) {
    int has_frames = flush_if_urgent();
    int timeout = lingering ? GROUP_POLL_MS : has_frames ? LAZY_MS : NO_LIMIT;
    int count = epoll_pwait(epoll_fd, events, EVENTS_AT_ONCE, timeout, open_to_all);
    if (count == 0) flush_frames();
    tell_stop();
    /* Commands last, and the dead after them: an event may belong to a job that either of them drops. */
    int has_messages = 0;
    for (int at = 0; at < count; at++) {
      struct source *source = events[at].data.ptr;
      if (source->kind == SOURCE_COMMANDS) has_messages = 1;
      else serve(source);
    }
    if (has_messages) take_messages();
    reap();
    if (lingering) end_lingering();
  }
}

int main(void) {
  static struct source commands = {SOURCE_COMMANDS, -1, NULL};
  sigset_t awaited, before;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  for (size_t at = 0; at < sizeof STOPS / sizeof *STOPS; at++) sigaddset(&awaited, STOPS[at]);
  sigprocmask(SIG_BLOCK, &awaited, &before);
  handle(SIGCHLD, interrupt);
  handle(SIGPIPE, interrupt);
  for (size_t at = 0; at < sizeof STOPS / sizeof *STOPS; at++) handle(STOPS[at], note_stop);
  prctl(PR_SET_NAME, "daruma-launcher");
  prctl(PR_SET_CHILD_SUBREAPER, 1L); /* orphans of jobs are reaped here */
  if ((null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0 || open_pipe(refusals) < 0) return 1;
  if ((epoll_fd = epoll_create1(EPOLL_CLOEXEC)) < 0 || watch(&commands, STDIN_FILENO) < 0) return 1;
  frame('H', 0, NULL, 0, IS_URGENT);
  run(&before);
}
