import type { KeyObject } from 'node:crypto'

/** A certificate in base64 with a key, the serial number 1, and the common names of Jane Doe and of an issuer; its other fields are empty. */
export function certificateFor(key: KeyObject): string {
  const empty = der(0x30)
  const version = der(0xa0, der(0x02, Buffer.of(2)))
  const serialNumber = der(0x02, Buffer.of(1))
  const publicKey = key.export({ type: 'spki', format: 'der' })
  const signed = der(0x30, version, serialNumber, empty, named('Test Authority'), empty, named('Jane Doe'), publicKey)
  return der(0x30, signed, empty, der(0x03, Buffer.of(0))).toString('base64')
}

function named(commonName: string): Buffer {
  return der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(commonName)))))
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const length = content.length < 128 ? Buffer.of(content.length) : Buffer.of(0x82, content.length >> 8, content.length & 255)
  return Buffer.concat([Buffer.of(tag), length, content])
}
