/**
 * tally: a module for the tests of Fairlead, with a data type of its own whose encoding has versions.
 *
 *   TALLY.ADD key [n]    adds n, or what STEP says; answers the sum
 *   TALLY.GET key        answers the sum; nil when there is no such key
 *   TALLY.NAME key name  gives the tally a name                 from 2.0 on
 *   TALLY.NAMEOF key     answers the name; nil when it has none from 2.0 on
 *
 * At load: STEP n (n >= 1; default 1). Replicas are always told the n, so that another STEP there changes nothing.
 *
 * Built with -DMAJOR, -DMINOR, -DPATCH. 1.x writes encoding 0, the sum; from 2.0 on encoding 1, the sum and the name, is
 * written, and 0 is read, too. The engine writes one encoding version for all values of a type: what 2.0 has saved is
 * closed to 1.x, names or not. With -DHANGS it never answers TALLY.GET, unless it was loaded with HANG no.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "module-api.h"

#define HAS_NAMES (MAJOR >= 2)
enum { OLD_ENCODING = 0, NAMED_ENCODING = 1, OUR_ENCODING = HAS_NAMES ? NAMED_ENCODING : OLD_ENCODING };

typedef struct {
  long long sum;
  /** NULL, or what Module_Alloc gave. */
  char *name;
  size_t name_length;
} Tally;

static ModuleType *tally_type;
static long long step = 1;
#ifdef HANGS
static int hangs = 1;
#endif

static Tally *make_tally(long long sum) {
  Tally *tally = Module_Alloc(sizeof *tally);
  *tally = (Tally){.sum = sum};
  return tally;
}

static void free_tally(void *value) {
  Tally *tally = value;
  if (tally->name != NULL) Module_Free(tally->name);
  Module_Free(tally);
}

/* -- Its data type ---------------------------------------------------------------------------------------------- */

static void save_tally(ModuleIO *io, void *value) {
  Tally *tally = value;
  Module_SaveSigned(io, tally->sum);
#if HAS_NAMES
  Module_SaveStringBuffer(io, tally->name == NULL ? "" : tally->name, tally->name_length);
#endif
}

static void *load_tally(ModuleIO *io, int encver) {
  if (encver > OUR_ENCODING) {
    Module_LogIOError(io, "warning", "tally %d.%d.%d cannot read encoding %d: it reads up to %d", MAJOR, MINOR, PATCH,
                      encver, OUR_ENCODING);
    return NULL;
  }
  int64_t sum = Module_LoadSigned(io);
  if (Module_IsIOError(io)) return NULL;
  Tally *tally = make_tally(sum);
  if (encver == OLD_ENCODING) return tally;
  tally->name = Module_LoadStringBuffer(io, &tally->name_length);
  if (Module_IsIOError(io)) {
    free_tally(tally);
    return NULL;
  }
  if (tally->name_length == 0) {
    Module_Free(tally->name);
    tally->name = NULL;
  }
  return tally;
}

static void rewrite_tally(ModuleIO *io, ModuleString *key, void *value) {
  Tally *tally = value;
  Module_EmitAOF(io, "TALLY.ADD", "sl", key, tally->sum);
#if HAS_NAMES
  if (tally->name != NULL) Module_EmitAOF(io, "TALLY.NAME", "sb", key, tally->name, tally->name_length);
#endif
}

static size_t weigh_tally(const void *value) {
  const Tally *tally = value;
  return sizeof *tally + tally->name_length;
}

static void digest_tally(ModuleDigest *digest, void *value) {
  Tally *tally = value;
  Module_DigestAddLongLong(digest, tally->sum);
  if (tally->name != NULL) Module_DigestAddStringBuffer(digest, tally->name, tally->name_length);
  Module_DigestEndSequence(digest);
}

static ModuleTypeMethods methods = {
    .version = 1,
    .rdb_load = load_tally,
    .rdb_save = save_tally,
    .aof_rewrite = rewrite_tally,
    .mem_usage = weigh_tally,
    .digest = digest_tally,
    .free = free_tally,
};

/* -- Its commands ----------------------------------------------------------------------------------------------- */

/** False, and the client has been told, when the key holds something else. `found` is NULL when there is no key. */
static int find_tally(ModuleCtx *ctx, ModuleKey *key, Tally **found) {
  *found = NULL;
  if (key == NULL || Module_KeyType(key) == MODULE_KEY_EMPTY) return 1;
  if (Module_ModuleTypeGetType(key) != tally_type) {
    Module_ReplyWithError(ctx, "WRONGTYPE Operation against a key holding the wrong kind of value");
    return 0;
  }
  *found = Module_ModuleTypeGetValue(key);
  return 1;
}

static int add(ModuleCtx *ctx, ModuleString **argv, int argc) {
  if (argc != 2 && argc != 3) return Module_WrongArity(ctx);
  Module_AutoMemory(ctx);
  long long n = step;
  if (argc == 3 && Module_StringToLongLong(argv[2], &n) != MODULE_OK)
    return Module_ReplyWithError(ctx, "ERR value is not an integer or out of range");
  ModuleKey *key = Module_OpenKey(ctx, argv[1], MODULE_READ | MODULE_WRITE);
  Tally *tally;
  if (!find_tally(ctx, key, &tally)) return MODULE_OK;
  long long sum;
  if (__builtin_add_overflow(tally == NULL ? 0 : tally->sum, n, &sum))
    return Module_ReplyWithError(ctx, "ERR increment or decrement would overflow");
  if (tally == NULL) Module_ModuleTypeSetValue(key, tally_type, make_tally(sum));
  else tally->sum = sum;
  if (argc == 3) Module_ReplicateVerbatim(ctx);
  else Module_Replicate(ctx, "TALLY.ADD", "sl", argv[1], n);
  return Module_ReplyWithLongLong(ctx, sum);
}

static int get(ModuleCtx *ctx, ModuleString **argv, int argc) {
  if (argc != 2) return Module_WrongArity(ctx);
#ifdef HANGS
  // As dead to clients as a busy loop, and other processes of the machine keep their core. Only SIGKILL ends it.
  while (hangs) pause();
#endif
  Module_AutoMemory(ctx);
  Tally *tally;
  if (!find_tally(ctx, Module_OpenKey(ctx, argv[1], MODULE_READ), &tally)) return MODULE_OK;
  return tally == NULL ? Module_ReplyWithNull(ctx) : Module_ReplyWithLongLong(ctx, tally->sum);
}

#if HAS_NAMES
static int name(ModuleCtx *ctx, ModuleString **argv, int argc) {
  if (argc != 3) return Module_WrongArity(ctx);
  Module_AutoMemory(ctx);
  ModuleKey *key = Module_OpenKey(ctx, argv[1], MODULE_READ | MODULE_WRITE);
  Tally *tally;
  if (!find_tally(ctx, key, &tally)) return MODULE_OK;
  size_t length;
  const char *text = Module_StringPtrLen(argv[2], &length);
  if (length == 0) return Module_ReplyWithError(ctx, "ERR a name has at least one character");
  if (tally == NULL) {
    tally = make_tally(0);
    Module_ModuleTypeSetValue(key, tally_type, tally);
  }
  if (tally->name != NULL) Module_Free(tally->name);
  tally->name = Module_Alloc(length);
  memcpy(tally->name, text, length);
  tally->name_length = length;
  Module_ReplicateVerbatim(ctx);
  return Module_ReplyWithSimpleString(ctx, "OK");
}

static int name_of(ModuleCtx *ctx, ModuleString **argv, int argc) {
  if (argc != 2) return Module_WrongArity(ctx);
  Module_AutoMemory(ctx);
  Tally *tally;
  if (!find_tally(ctx, Module_OpenKey(ctx, argv[1], MODULE_READ), &tally)) return MODULE_OK;
  if (tally == NULL || tally->name == NULL) return Module_ReplyWithNull(ctx);
  return Module_ReplyWithStringBuffer(ctx, tally->name, tally->name_length);
}
#endif

/* -- Loading ---------------------------------------------------------------------------------------------------- */

/** Takes the argument `name value`. NULL, or what is wrong with it. */
static const char *take_argument(const char *name, const char *value, ModuleString *given) {
  if (strcasecmp(name, "STEP") == 0) {
    if (value == NULL || Module_StringToLongLong(given, &step) != MODULE_OK || step < 1)
      return "wants a whole number from 1 on";
    return NULL;
  }
#ifdef HANGS
  if (strcasecmp(name, "HANG") == 0) {
    hangs = value != NULL && strcasecmp(value, "yes") == 0;
    return hangs || (value != NULL && strcasecmp(value, "no") == 0) ? NULL : "wants yes or no";
  }
#endif
  return "is unknown";
}

static int take_arguments(ModuleCtx *ctx, ModuleString **argv, int argc) {
  for (int n = 0; n < argc; n += 2) {
    const char *name = Module_StringPtrLen(argv[n], NULL);
    const char *value = n + 1 < argc ? Module_StringPtrLen(argv[n + 1], NULL) : NULL;
    const char *wrong = take_argument(name, value, n + 1 < argc ? argv[n + 1] : NULL);
    if (wrong == NULL) continue;
    Module_Log(ctx, "warning", "the argument '%s' %s; it was given '%s'", name, wrong, value == NULL ? "" : value);
    return MODULE_ERR;
  }
  return MODULE_OK;
}

int RedisModule_OnLoad(ModuleCtx *ctx, ModuleString **argv, int argc) {
  if (Module_Init(ctx, "tally", MAJOR * 10000 + MINOR * 100 + PATCH) != MODULE_OK) return MODULE_ERR;
  if (take_arguments(ctx, argv, argc) != MODULE_OK) return MODULE_ERR;
  Module_SetModuleOptions(ctx, MODULE_HANDLES_IO_ERRORS);
  tally_type = Module_CreateDataType(ctx, "tallytype", OUR_ENCODING, &methods);
  if (tally_type == NULL) return MODULE_ERR;
  if (Module_CreateCommand(ctx, "tally.add", add, "write deny-oom fast", 1, 1, 1) != MODULE_OK ||
      Module_CreateCommand(ctx, "tally.get", get, "readonly fast", 1, 1, 1) != MODULE_OK)
    return MODULE_ERR;
#if HAS_NAMES
  if (Module_CreateCommand(ctx, "tally.name", name, "write deny-oom fast", 1, 1, 1) != MODULE_OK ||
      Module_CreateCommand(ctx, "tally.nameof", name_of, "readonly fast", 1, 1, 1) != MODULE_OK)
    return MODULE_ERR;
#endif
  return MODULE_OK;
}
