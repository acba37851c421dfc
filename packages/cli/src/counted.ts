/** A number with what it counts: `1 resource`, `2 resources`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
