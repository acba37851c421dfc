/** Makes a value of JSON text, or throws; the host's strict parser, so that one parser serves every body. */
export type ParseJson = (text: string) => unknown

/** A kind of input and output of bots. */
export interface BotContentType {
  /** Lower case, without parameters. */
  readonly mediaType: string
  /** Other media types under which the same kind of value may be asked for by `Accept`, with how it is written then. */
  readonly also: readonly { readonly mediaType: string; readonly write: (value: unknown) => string | undefined }[]
  /**
   * What a bot gets as `event.input`.
   *
   * @throws {OperationError} `body-invalid` or `body-structure`.
   */
  readonly read: (text: string, parseJson: ParseJson) => unknown
  /** The text of a value of this kind that a bot returned, `undefined` for values of other kinds. Throws what JSON cannot say. */
  readonly write: (value: unknown) => string | undefined
}
