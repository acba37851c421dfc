/** Ends a command with an exit status and without a message: everything was said. */
export class Exit extends Error {
  override readonly name: string = 'Exit'
  readonly status: number

  constructor(status: number) {
    super(`exit status ${status}`)
    this.status = status
  }
}
