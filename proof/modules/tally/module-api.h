/**
 * The part of the module API of Redis 7.0 to 8.x and Valkey 8.0 to 9.x that the test module uses, written down by
 * ourselves. The first word of the context that the engine hands to RedisModule_OnLoad is a function that finds the
 * others by name; Valkey knows the names of Redis, too.
 */
#ifndef FAIRLEAD_MODULE_API_H
#define FAIRLEAD_MODULE_API_H

#include <stddef.h>
#include <stdint.h>

enum { MODULE_OK = 0, MODULE_ERR = 1, MODULE_API_VERSION = 1 };
enum { MODULE_READ = 1, MODULE_WRITE = 2 };
enum { MODULE_KEY_EMPTY = 0 };
/** A cut-off file ends our loading, and not the engine's process. */
enum { MODULE_HANDLES_IO_ERRORS = 1 };

typedef struct ModuleCtx ModuleCtx;
typedef struct ModuleString ModuleString;
typedef struct ModuleKey ModuleKey;
typedef struct ModuleType ModuleType;
typedef struct ModuleIO ModuleIO;
typedef struct ModuleDigest ModuleDigest;

typedef int (*ModuleCommand)(ModuleCtx *ctx, ModuleString **argv, int argc);

/** Version 1 of the methods; the engine reads as many of them as the version says. */
typedef struct {
  uint64_t version;
  void *(*rdb_load)(ModuleIO *io, int encver);
  void (*rdb_save)(ModuleIO *io, void *value);
  void (*aof_rewrite)(ModuleIO *io, ModuleString *key, void *value);
  size_t (*mem_usage)(const void *value);
  void (*digest)(ModuleDigest *digest, void *value);
  void (*free)(void *value);
} ModuleTypeMethods;

/** X(result, name, parameters): the one list that declares the functions and finds them. */
#define MODULE_FUNCTIONS(X)                                                                                    \
  X(int, SetModuleAttribs, (ModuleCtx *, const char *name, int ver, int apiver))                               \
  X(int, IsModuleNameBusy, (const char *name))                                                                 \
  X(void, SetModuleOptions, (ModuleCtx *, int options))                                                        \
  X(int, CreateCommand,                                                                                        \
    (ModuleCtx *, const char *name, ModuleCommand, const char *flags, int first, int last, int step))          \
  X(ModuleType *, CreateDataType, (ModuleCtx *, const char *name, int encver, ModuleTypeMethods *))            \
  X(void, Log, (ModuleCtx *, const char *level, const char *format, ...))                                      \
  X(void, LogIOError, (ModuleIO *, const char *level, const char *format, ...))                                \
  X(void *, Alloc, (size_t))                                                                                   \
  X(void, Free, (void *))                                                                                      \
  X(void, AutoMemory, (ModuleCtx *))                                                                           \
  X(ModuleKey *, OpenKey, (ModuleCtx *, ModuleString *name, int mode))                                         \
  X(int, KeyType, (ModuleKey *))                                                                               \
  X(ModuleType *, ModuleTypeGetType, (ModuleKey *))                                                            \
  X(void *, ModuleTypeGetValue, (ModuleKey *))                                                                 \
  X(int, ModuleTypeSetValue, (ModuleKey *, ModuleType *, void *value))                                         \
  X(const char *, StringPtrLen, (const ModuleString *, size_t *length))                                        \
  X(int, StringToLongLong, (const ModuleString *, long long *))                                                \
  X(int, WrongArity, (ModuleCtx *))                                                                            \
  X(int, ReplyWithLongLong, (ModuleCtx *, long long))                                                          \
  X(int, ReplyWithStringBuffer, (ModuleCtx *, const char *, size_t length))                                    \
  X(int, ReplyWithSimpleString, (ModuleCtx *, const char *))                                                   \
  X(int, ReplyWithNull, (ModuleCtx *))                                                                         \
  X(int, ReplyWithError, (ModuleCtx *, const char *))                                                          \
  X(int, Replicate, (ModuleCtx *, const char *command, const char *format, ...))                               \
  X(int, ReplicateVerbatim, (ModuleCtx *))                                                                     \
  X(void, SaveSigned, (ModuleIO *, int64_t))                                                                   \
  X(int64_t, LoadSigned, (ModuleIO *))                                                                         \
  X(void, SaveStringBuffer, (ModuleIO *, const char *, size_t length))                                         \
  X(char *, LoadStringBuffer, (ModuleIO *, size_t *length))                                                    \
  X(int, IsIOError, (ModuleIO *))                                                                              \
  X(void, EmitAOF, (ModuleIO *, const char *command, const char *format, ...))                                 \
  X(void, DigestAddLongLong, (ModuleDigest *, long long))                                                      \
  X(void, DigestAddStringBuffer, (ModuleDigest *, const char *, size_t length))                                \
  X(void, DigestEndSequence, (ModuleDigest *))

#define MODULE_DECLARE(result, name, parameters) static result(*Module_##name) parameters;
MODULE_FUNCTIONS(MODULE_DECLARE)

/** Finds every function, and tells the engine who we are. MODULE_ERR: the engine lacks one, or has the name already. */
static int Module_Init(ModuleCtx *ctx, const char *name, int ver) {
  int (*find)(const char *, void *) = (int (*)(const char *, void *))((void **)ctx)[0];
#define MODULE_FIND(result, name, parameters)                                                                  \
  if (find("RedisModule_" #name, (void *)&Module_##name) != MODULE_OK) return MODULE_ERR;
  MODULE_FUNCTIONS(MODULE_FIND)
  if (Module_IsModuleNameBusy(name)) return MODULE_ERR;
  Module_SetModuleAttribs(ctx, name, ver, MODULE_API_VERSION);
  return MODULE_OK;
}

#endif
