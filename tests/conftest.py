"""JAX in its strictest mode, two devices, and shapes and types checked at run time."""

import jax
import optax.tree
from jaxtyping import install_import_hook

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_debug_key_reuse", True)
jax.config.update("jax_num_cpu_devices", 2)
jax.devices()  # starts JAX, so that importing merlax no longer changes the number of devices

install_import_hook("merlax", "beartype.beartype")

_bias_correction = optax.tree.bias_correction


def _lenient_bias_correction(*args, **kwargs):
    """Adam raises a Python float to an integer power, which strict promotion refuses: optax's affair, not ours."""
    with jax.numpy_dtype_promotion("standard"):
        return _bias_correction(*args, **kwargs)


optax.tree.bias_correction = _lenient_bias_correction
