export {
  addBit,
  addBits,
  countBits,
  countBoth,
  difference,
  emptyBits,
  firstOfBoth,
  hasBit,
  intersection,
  membersOf,
  removeBit,
  type Bits,
} from './bits.js'
