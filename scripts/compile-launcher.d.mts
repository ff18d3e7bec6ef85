export declare function listLaunchers(
  isForAll: boolean,
): { readonly arch: string; readonly compiler: string | undefined }[];
