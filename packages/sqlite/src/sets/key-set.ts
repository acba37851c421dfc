import { addBit, countBits, emptyBits, firstWhere, hasBit, membersOf, removeBit, withRoomFor, type Bits } from 'fhir-ops/internal/bits'

/** Keys of resources: many as a bitmap, few as a list. */
export interface KeySet {
  /** Memory that it takes. */
  bytes(): number
  /** Do not change it; the next `put` may. */
  bits(): Bits
  /** Puts keys in, or takes them out. */
  put(memberships: Iterable<readonly [key: number, isMember: boolean]>): void
}

/** @param found Nobody else writes to it any more. */
export function keySet(found: Bits): KeySet {
  let bits = isLarge(found) ? found : undefined
  let list = bits === undefined ? Uint32Array.from(membersOf(found)) : NONE
  const has = (key: number): boolean => (bits === undefined ? isInList(list, key) : hasBit(bits, key))
  return {
    bytes: () => (bits ?? list).byteLength,
    bits: () => bits ?? bitsOfList(list),
    put(memberships) {
      const different = [...memberships].filter(([key, isMember]) => has(key) !== isMember)
      if (different.length === 0) return
      let changed = bits ?? bitsOfList(list)
      for (const [key, isMember] of different) {
        changed = withRoomFor(changed, key)
        if (isMember) addBit(changed, key)
        else removeBit(changed, key)
      }
      bits = bits !== undefined || isLarge(changed) ? changed : undefined
      list = bits === undefined ? Uint32Array.from(membersOf(changed)) : NONE
    },
  }
}

const NONE = new Uint32Array()

/** Whether a bitmap takes less than a list. */
function isLarge(bits: Bits): boolean {
  return countBits(bits) > bits.length
}

function isInList(list: Uint32Array, key: number): boolean {
  return list[firstWhere(list.length, (index) => (list[index] ?? 0) >= key)] === key
}

function bitsOfList(list: Uint32Array): Bits {
  const bits = emptyBits((list.at(-1) ?? -1) + 1)
  for (const key of list) addBit(bits, key)
  return bits
}
