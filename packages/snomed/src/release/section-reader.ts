import type { SystemSections } from 'fhir-ops/storage'

/** Reads sections as the columns that they are. Numbers are little-endian, as on every platform with JavaScript that is in use. */
export interface SectionReader {
  bytes(name: string): Uint8Array
  /** 32-bit numbers. */
  numbers(name: string): Uint32Array
  /** 16-bit numbers. */
  shorts(name: string): Uint16Array
}

/** Puts a reader over the sections of a version. */
export function sectionReader(sections: SystemSections): SectionReader {
  const aligned = (name: string): Uint8Array => {
    const bytes = sections.section(name)
    return bytes.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice()
  }
  return {
    bytes: (name) => sections.section(name),
    numbers(name) {
      const { buffer, byteOffset, byteLength } = aligned(name)
      return new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT)
    },
    shorts(name) {
      const { buffer, byteOffset, byteLength } = aligned(name)
      return new Uint16Array(buffer, byteOffset, byteLength / Uint16Array.BYTES_PER_ELEMENT)
    },
  }
}

/** The bytes of a column, to be kept as a section. */
export function bytesOf(column: Uint32Array | Uint16Array | Uint8Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
}
