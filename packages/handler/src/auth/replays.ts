/** Remembers what may be used once. */
export interface Replays {
  /** True the first time. */
  isNew(key: string): boolean | Promise<boolean>
}
