/** A number with what it counts: `1 concept`, `2 concepts`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
