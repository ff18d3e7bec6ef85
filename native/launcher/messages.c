#include "launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH_BYTES = 4, MAX_FIELDS = 4 };

static char *input;
static size_t filled, capacity;

/* From which the environments of jobs differ little. */
static char *base_text;
static char **base;
static size_t base_count;

struct field {
  char *text; /* NUL behind it */
  size_t size;
};

static void *grown(void *old, size_t size) {
  void *memory = realloc(old, size);
  if (!memory) farewell();
  return memory;
}

static uint32_t u32_at(const char *at) {
  const unsigned char *bytes = (const unsigned char *)at;
  return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/* How many texts a field holds, each ended by NUL. */
static size_t count_texts(struct field field) {
  size_t count = 0;
  for (size_t at = 0; at < field.size; at += strlen(field.text + at) + 1) count++;
  return count;
}

static size_t list_texts(struct field field, char **list) {
  size_t count = 0;
  for (size_t at = 0; at < field.size; at += strlen(field.text + at) + 1) list[count++] = field.text + at;
  list[count] = NULL;
  return count;
}

/* Makes NAME=VALUE of NAME, NUL, VALUE, in place. */
static size_t list_pairs(struct field field, char **list) {
  size_t count = 0;
  for (size_t at = 0; at < field.size;) {
    list[count++] = field.text + at;
    size_t name = strlen(field.text + at);
    field.text[at + name] = '=';
    at += strlen(field.text + at) + 1;
  }
  return count;
}

static size_t name_size(const char *pair) { return strcspn(pair, "="); }

static int is_of_name(const char *pair, const char *name, size_t size) {
  return strncmp(pair, name, size) == 0 && pair[size] == '=';
}

static char **find_name(char **list, size_t count, const char *name, size_t size) {
  for (size_t at = 0; at < count; at++)
    if (is_of_name(list[at], name, size)) return list + at;
  return NULL;
}

/* The base with what is different in this job. */
static char **environment_of(struct field set, struct field unset) {
  static char **env, **changed, **names;
  static size_t room;
  size_t most = base_count + count_texts(set) + count_texts(unset) + 1;
  if (most > room) {
    room = 2 * most;
    env = grown(env, room * sizeof *env);
    changed = grown(changed, room * sizeof *changed);
    names = grown(names, room * sizeof *names);
  }
  memcpy(env, base, base_count * sizeof *env);
  size_t count = base_count, changes = list_pairs(set, changed), removals = list_texts(unset, names);
  for (size_t at = 0; at < changes; at++) {
    char **present = find_name(env, base_count, changed[at], name_size(changed[at]));
    if (present) *present = changed[at];
    else env[count++] = changed[at];
  }
  for (size_t at = 0; at < removals; at++) {
    char **present = find_name(env, count, names[at], strlen(names[at]));
    if (present) *present = env[--count];
  }
  env[count] = NULL;
  return env;
}

static void take_base(struct field body) {
  free(base_text);
  base_text = grown(NULL, body.size + 1);
  memcpy(base_text, body.text, body.size);
  base_text[body.size] = '\0';
  struct field own = {base_text, body.size};
  base = grown(base, (count_texts(own) + 1) * sizeof *base);
  base_count = list_pairs(own, base);
}

/* Takes fields apart: a length, then so many bytes. The byte behind a field belongs to the next length, which is read
 * first and can then be NUL. */
static char *take_fields(char *at, struct field *fields) {
  uint32_t size = u32_at(at);
  for (int field = 0; field < MAX_FIELDS; field++) {
    fields[field] = (struct field){at + LENGTH_BYTES, size};
    at += LENGTH_BYTES + size;
    if (field + 1 < MAX_FIELDS) size = u32_at(at);
    if (field + 1 < MAX_FIELDS) *at = '\0';
  }
  return at;
}

static void take_start(char type, char *body, size_t body_size) {
  static char **argv;
  static size_t room;
  struct field fields[MAX_FIELDS]; /* folder, words, set, unset */
  uint32_t id = u32_at(body);
  char *text = take_fields(body + LENGTH_BYTES, fields);
  size_t text_size = body + body_size - text;
  if (type == 'I') {
    /* The last field needs a NUL too: it takes the place of the text's first byte. */
    char *copy = grown(NULL, text_size + 1);
    memcpy(copy, text, text_size);
    *text = '\0';
    text = copy;
  }
  size_t words = count_texts(fields[1]);
  if (words + 1 > room) {
    room = 2 * (words + 1);
    argv = grown(argv, room * sizeof *argv);
  }
  list_texts(fields[1], argv);
  if (type == 'Q' && start_in_shell(id, fields[0].text, argv[words - 1])) return;
  start_job(id, fields[0].text, argv, environment_of(fields[2], fields[3]), type == 'I' ? text : NULL, text_size);
}

/* `body` may be changed, and the byte behind it. */
static void obey(char type, char *body, size_t size) {
  char behind = body[size];
  if (type == 'B') take_base((struct field){body, size});
  else if (type == 'K') signal_job(u32_at(body), u32_at(body + 4));
  else {
    if (type != 'I') body[size] = '\0';
    take_start(type, body, size);
  }
  body[size] = behind;
}

void take_messages(void) {
  if (capacity - filled <= CHUNK_BYTES) {
    capacity = 2 * capacity + 2 * CHUNK_BYTES;
    input = grown(input, capacity);
  }
  ssize_t got = read(STDIN_FILENO, input + filled, capacity - filled - 1);
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) farewell();
  if (got < 0) return;
  filled += got;
  size_t at = 0;
  while (filled - at >= LENGTH_BYTES) {
    size_t size = u32_at(input + at);
    if (filled - at < LENGTH_BYTES + size) break;
    obey(input[at + LENGTH_BYTES], input + at + LENGTH_BYTES + 1, size - 1);
    at += LENGTH_BYTES + size;
  }
  memmove(input, input + at, filled - at);
  filled -= at;
}
