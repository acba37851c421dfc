/**
 * Installs a `Math.random` whose numbers follow from four seeds of 32 bits, which the function takes (sfc32). That of the engine has a state that is set
 * back with the realm: every run would get the same numbers.
 */
export function installRandom(): (...seeds: number[]) => void {
  let [a, b, c, count] = [0, 0, 0, 0]
  const next = (): number => {
    const sum = (a + b + count) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    count = (count + 1) | 0
    return sum >>> 0
  }
  Object.defineProperty(Math, 'random', {
    value: () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53,
    writable: true,
    configurable: true,
  })
  return (...seeds) => {
    ;[a = 0, b = 0, c = 0, count = 0] = seeds
    for (let i = 0; i < 12; i++) next()
  }
}
