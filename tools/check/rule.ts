/** One rule of the repository: a sentence that is true, and what breaks it. */
export interface Rule {
  readonly name: string
  readonly find: () => readonly string[] | Promise<readonly string[]>
}

/**
 * A rule by its sentence. `find` answers what breaks it, each as "file: what"; it throws if the rule itself
 * is wrong.
 */
export function rule(name: string, find: Rule['find']): Rule {
  return { name, find }
}

/** Throws where a rule finds too little to look at: it would hold for nothing. */
export function mustSee(seen: number, atLeast: number): void {
  if (seen < atLeast)
    throw new Error(`this rule looks at ${seen} places, and at ${atLeast} or more it should`)
}
