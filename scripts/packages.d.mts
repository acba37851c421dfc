export interface WorkspacePackage {
  readonly dir: string
  readonly manifest: { readonly name: string; readonly private?: boolean }
}
export declare const root: string
export declare function workspacePackages(): WorkspacePackage[]
export declare function sourceEntries(pkg: WorkspacePackage): [subpath: string, file: string][]
