#include "launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER_BYTES = 9, STATUS_BYTES = 4, USAGE_BYTES = 32 };

static unsigned char *frames;
static size_t size, capacity;
static int is_urgent_now;

static void put_u32(unsigned char *at, uint32_t value) {
  at[0] = value >> 24;
  at[1] = value >> 16;
  at[2] = value >> 8;
  at[3] = value;
}

static void put_u64(unsigned char *at, uint64_t value) {
  put_u32(at, value >> 32);
  put_u32(at + 4, (uint32_t)value);
}

/* Room for a frame's payload behind its header, so that output is read to where it is sent from. */
char *frame_room(size_t payload) {
  if (size + HEADER_BYTES + payload > capacity) {
    capacity = 2 * (size + HEADER_BYTES + payload);
    frames = realloc(frames, capacity);
    if (!frames) farewell();
  }
  return (char *)frames + size + HEADER_BYTES;
}

static void frame_header(char type, uint32_t id, size_t payload) {
  frames[size] = type;
  put_u32(frames + size + 1, id);
  put_u32(frames + size + 5, payload);
  size += HEADER_BYTES + payload;
}

void frame(char type, uint32_t id, const void *payload, size_t payload_size, int is_urgent) {
  char *room = frame_room(payload_size);
  if (payload_size) memcpy(room, payload, payload_size);
  frame_header(type, id, payload_size);
  if (is_urgent) is_urgent_now = 1;
}

/* The payload is in the room already. */
void frame_output(char type, uint32_t id, size_t payload) {
  frame_header(type, id, payload);
  is_urgent_now = 1;
  if (size >= CHUNK_BYTES) flush_frames();
}

/* Nobody waits for it: it goes with the next frame that is urgent. */
void frame_started(const struct job *job) {
  unsigned char fact[4];
  put_u32(fact, job->pid);
  frame('S', job->id, fact, sizeof fact, 0);
}

void frame_ended(const struct job *job, int has_usage) {
  unsigned char fact[STATUS_BYTES + USAGE_BYTES];
  put_u32(fact, job->status);
  put_u64(fact + STATUS_BYTES, job->usage.peak_kib);
  put_u64(fact + STATUS_BYTES + 8, job->usage.cpu_us);
  put_u64(fact + STATUS_BYTES + 16, job->usage.blocks_read);
  put_u64(fact + STATUS_BYTES + 24, job->usage.blocks_written);
  frame('X', job->id, fact, has_usage ? sizeof fact : STATUS_BYTES, IS_URGENT);
}

void frame_refused(uint32_t id, int error, enum stage stage) {
  unsigned char fact[5];
  put_u32(fact, error);
  fact[4] = stage;
  frame('F', id, fact, sizeof fact, IS_URGENT);
}

/* The engine reads what it is told as long as it lives. */
void flush_frames(void) {
  size_t at = 0;
  while (at < size) {
    ssize_t written = write(STDOUT_FILENO, frames + at, size - at);
    if (written >= 0) at += written;
    else if (errno != EINTR) farewell();
  }
  size = 0;
  is_urgent_now = 0;
}

int flush_if_urgent(void) {
  if (is_urgent_now) flush_frames();
  return size > 0;
}
