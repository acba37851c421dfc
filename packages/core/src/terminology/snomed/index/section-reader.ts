import type { SystemSections } from '../../../storage/index.js'

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
  const aligned = (name: string): ArrayBuffer => sections.section(name).slice().buffer
  return {
    bytes: (name) => sections.section(name),
    numbers: (name) => new Uint32Array(aligned(name)),
    shorts: (name) => new Uint16Array(aligned(name)),
  }
}

/** The bytes of a column, to be kept as a section. */
export function bytesOf(column: Uint32Array | Uint16Array | Uint8Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
}
