import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'

/** Of HTTP/2: the stream that the response is on. */
export function streamOf(raw: ServerResponse): { readonly destroyed: boolean } | undefined {
  // Node's response of HTTP/2 has what is used of this one.
  return 'stream' in raw ? (raw as unknown as Http2ServerResponse).stream : undefined
}

/** Whether `close` of this response has come already: its client has gone, or has its answer. */
export function isGone(raw: ServerResponse): boolean {
  return streamOf(raw)?.destroyed ?? raw.destroyed
}
