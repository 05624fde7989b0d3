// SPDX-License-Identifier: BSD-2-Clause
// All of it is in one header.
#include "../argo.hpp"
