const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Formats bytes: "97 MiB", "21.3 GiB". */
export function showBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  const value = bytes / 1024 ** power
  return `${value >= 100 || power === 0 ? Math.round(value) : Number(value.toFixed(1))} ${units[power]}`
}

/** Formats milliseconds: "2.85 ms", "12 s". */
export function showMs(ms: number): string {
  if (ms >= 10_000) return showSeconds(ms / 1_000)
  return `${ms >= 100 ? Math.round(ms) : Number(ms.toFixed(2))} ms`
}

/** Formats seconds: "40 s", "15 min", "2 h 5 min", "6 d". */
export function showSeconds(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 120) return `${whole} s`
  const minutes = Math.round(whole / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.round(hours / 24)} d`
}
