// The part of WebAssembly that this package uses; the types of Node.js leave it out.
declare namespace WebAssembly {
  class Memory {
    constructor(pages: { readonly initial: number; readonly maximum: number })
    readonly buffer: ArrayBuffer
  }
}
