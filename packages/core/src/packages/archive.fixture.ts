/** The gzipped tar archive of some files, as packages are published. */
export function archiveOf(files: Readonly<Record<string, string | Uint8Array>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return gzipped([...Object.entries(files).map(([name, text]) => tarEntry(name, text)), new Uint8Array(1_024)])
}

/** Compresses bytes that come in parts. */
export function gzipped(parts: readonly Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new Blob([...parts]).stream().pipeThrough(new CompressionStream('gzip'))
}

/** A file as it stands in a tar archive. */
export function tarEntry(name: string, text: string | Uint8Array, kind = '0'): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const content = typeof text === 'string' ? encoder.encode(text) : text
  const bytes = new Uint8Array(512 * (1 + Math.ceil(content.length / 512)))
  bytes.set(encoder.encode(name), 0)
  bytes.set(encoder.encode(content.length.toString(8).padStart(11, '0')), 124)
  bytes.set(encoder.encode(kind), 156)
  bytes.set(encoder.encode('ustar'), 257)
  bytes.set(content, 512)
  return bytes
}
