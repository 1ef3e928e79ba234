/** A version of an engine in a suite. */
export interface Offer {
  readonly flavour: string
  /** The engine's version: "8.1.1". */
  readonly version: string
  /** Debian's version: "8.1.1+dfsg1-3+deb13u2". */
  readonly debianVersion: string
  readonly suite: string
}

/**
 * Reads the output of `apt-cache madison <flavour>-tools`, one offer per line: ` redis-tools | 5:8.6.3-1 |
 * http://somewhere/debian experimental/main amd64 Packages`. Pre-releases ("9.0.0~rc1-1") are ignored.
 */
export function readOffers(text: string): readonly Offer[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', debianVersion = '', place = ''] = line.split('|').map((field) => field.trim())
    const flavour = /^(.+)-tools$/.exec(name)?.[1]
    const version = /^(?:\d+:)?(\d+\.\d+\.\d+)(?:\+[^-~]*)?(?:-|$)/.exec(debianVersion)?.[1]
    const suite = / ([^ /]+)\/main [^ ]+ Packages$/.exec(place)?.[1]
    if (flavour === undefined || version === undefined || suite === undefined) return []
    return [{ flavour, version, debianVersion, suite }]
  })
}
