import { readImportAddress, readImportsAddress, readWizardAddress } from './import-address.ts';

describe('the address of imports', () => {
  it('says which state is listed', () => {
    expect(readImportsAddress({ state: 'failed' })).toEqual({ state: 'failed' });
    expect(readImportsAddress({ state: 'broken' })).toEqual({ state: undefined });
  });

  it('says which changes of which table are shown', () => {
    expect(readImportAddress({ kind: 'deleted', of: '7' })).toEqual({ kind: 'deleted', of: 7 });
    expect(readImportAddress({ kind: 'all', of: '-7' })).toEqual({ kind: undefined, of: undefined });
  });

  it('says how far the wizard is', () => {
    const address = { table: 'countries', step: 'effect', import: '12', kind: 'created' };
    expect(readWizardAddress(address)).toEqual({ ...address, import: 12 });
    expect(readWizardAddress({ table: '', step: 'last', import: 'x' })).toEqual({
      table: undefined,
      step: undefined,
      import: undefined,
      kind: undefined,
    });
  });
});
