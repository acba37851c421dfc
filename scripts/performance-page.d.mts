export declare const PAGE: string

export declare function withResults(page: string, results?: readonly { readonly name: string; readonly text: string }[]): string
