import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LoadedModule } from '@fairlead/api'

export interface TinyModule {
  readonly path: string
  readonly bytes: Buffer
  readonly sha256: string
  /** The module as a spec names it. */
  loaded(...args: readonly string[]): LoadedModule
}

/**
 * Compiles a module with TINY.ARGS (the number of its arguments) and TINY.HANG (hangs without end); it
 * refuses the argument "bad".
 */
export async function compileTinyModule(folder: string, version = 10_000): Promise<TinyModule> {
  const path = join(folder, `tiny-${version}.so`)
  await writeFile(`${path}.c`, source)
  await promisify(execFile)('gcc', [
    '-shared',
    '-fPIC',
    '-O1',
    `-DVERSION=${version}`,
    '-o',
    path,
    `${path}.c`,
  ])
  const bytes = await readFile(path)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { path, bytes, sha256, loaded: (...args) => ({ sha256, name: 'tiny', args: [...args] }) }
}

/** The module looks up each function of the engine by name, through the first word of the context. */
const source = `
typedef struct Ctx Ctx;
typedef struct Text Text;
typedef int Command(Ctx *, Text **, int);
static int (*attributes)(Ctx *, const char *, int, int);
static int (*create)(Ctx *, const char *, Command *, const char *, int, int, int);
static int (*number)(Ctx *, long long);
static const char *(*text)(const Text *, unsigned long *);
static void (*say)(Ctx *, const char *, const char *, ...);
static int count;
static int args(Ctx *ctx, Text **argv, int argc) { (void)argv; (void)argc; return number(ctx, count); }
static int hang(Ctx *ctx, Text **argv, int argc) { (void)ctx; (void)argv; (void)argc; for (volatile int on = 1; on;) {} return 0; }
int RedisModule_OnLoad(Ctx *ctx, Text **argv, int argc) {
  int (*get)(const char *, void *) = ((void **)ctx)[0];
  get("RedisModule_SetModuleAttribs", &attributes);
  get("RedisModule_CreateCommand", &create);
  get("RedisModule_ReplyWithLongLong", &number);
  get("RedisModule_StringPtrLen", &text);
  get("RedisModule_Log", &say);
  attributes(ctx, "tiny", VERSION, 1);
  count = argc;
  for (int n = 0; n < argc; n++) {
    unsigned long length;
    const char *word = text(argv[n], &length);
    if (length == 3 && word[0] == 'b' && word[1] == 'a' && word[2] == 'd') {
      say(ctx, "warning", "tiny takes no argument %s", "bad");
      return 1;
    }
  }
  create(ctx, "tiny.args", args, "readonly", 0, 0, 0);
  return create(ctx, "tiny.hang", hang, "readonly", 0, 0, 0);
}
`
